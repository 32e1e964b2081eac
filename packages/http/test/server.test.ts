import { createServer, get, type Server } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@acsp/testkit';
import { openServer, urlOf } from '../src/index.js';

const quick = 2_000;

async function timed(work: Promise<void>): Promise<number> {
  const startedAt = Date.now();
  await work;
  return Date.now() - startedAt;
}

/** A server whose answers wait until `release`. */
async function slowServer(drainMs = 5_000) {
  const waiting: (() => void)[] = [];
  const server: Server = createServer((_request, response) => void waiting.push(() => response.end('done')));
  const { port, url, ...open } = await openServer(server, { port: 0, host: '127.0.0.1', drainMs });
  const close = async () => open[Symbol.asyncDispose]();
  return { server, port, url, close, waiting, release: () => waiting.forEach((end) => void end()) };
}

test('a running request ends before the server does, and connections at rest hold up nothing', async () => {
  const { url, close, waiting, release } = await slowServer();
  const answer = fetch(url).then((response) => response.text());
  await eventually(() => waiting.length === 1);
  const closing = timed(close());
  release();
  expect(await answer).toBe('done');
  expect(await closing).toBeLessThan(quick);
});

test('a connection that never sent a request holds up nothing', async () => {
  const { server, port, close } = await slowServer();
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => server.once('connection', resolve));
  expect(await timed(close())).toBeLessThan(quick);
  socket.destroy();
});

test('a request that does not end is cut', async () => {
  const { url, close, waiting } = await slowServer(100);
  const request = get(url);
  const failed = new Promise<Error>((resolve) => request.once('error', resolve));
  await eventually(() => waiting.length === 1);
  await close();
  expect((await failed).message).toContain('hang up');
});

test('a port that is taken is an error', async () => {
  const { port, close } = await slowServer();
  await expect(openServer(createServer(), { port, host: '127.0.0.1', drainMs: 0 })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await close();
});

test('addresses that stand for all are dialled by loopback', () => {
  expect(['0.0.0.0', '::', '::1', 'host'].map((host) => urlOf(host, 80))).toEqual([
    'http://127.0.0.1:80',
    'http://[::1]:80',
    'http://[::1]:80',
    'http://host:80',
  ]);
  const wildcards = ['::0', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0'];
  expect(wildcards.map((host) => urlOf(host, 80))).toEqual([
    'http://[::1]:80',
    'http://[::1]:80',
    'http://127.0.0.1:80',
  ]);
});
