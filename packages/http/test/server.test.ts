import { createServer, get, type Server } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@acsp/testkit';
import { closeServer, listen, urlOf } from '../src/index.js';

const quick = 2_000;

async function timed(work: Promise<void>): Promise<number> {
  const startedAt = Date.now();
  await work;
  return Date.now() - startedAt;
}

/** A server whose answers wait until `release`. */
async function slowServer() {
  const waiting: (() => void)[] = [];
  const server: Server = createServer((_request, response) => void waiting.push(() => response.end('done')));
  const port = await listen(server, 0, '127.0.0.1');
  return { server, port, waiting, release: () => waiting.forEach((end) => void end()) };
}

test('a running request ends before the server does, and connections at rest hold up nothing', async () => {
  const { server, port, waiting, release } = await slowServer();
  const answer = fetch(urlOf('127.0.0.1', port)).then((response) => response.text());
  await eventually(() => waiting.length === 1);
  const closing = timed(closeServer(server, 5_000));
  release();
  expect(await answer).toBe('done');
  expect(await closing).toBeLessThan(quick);
});

test('a connection that never sent a request holds up nothing', async () => {
  const { server, port } = await slowServer();
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => server.once('connection', resolve));
  expect(await timed(closeServer(server, 5_000))).toBeLessThan(quick);
  socket.destroy();
});

test('a request that does not end is cut', async () => {
  const { server, port, waiting } = await slowServer();
  const request = get(urlOf('127.0.0.1', port));
  const failed = new Promise<Error>((resolve) => request.once('error', resolve));
  await eventually(() => waiting.length === 1);
  await closeServer(server, 100);
  expect((await failed).message).toContain('hang up');
});

test('a port that is taken is an error', async () => {
  const { server, port } = await slowServer();
  await expect(listen(createServer(), port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await closeServer(server, 0);
});

test('addresses that stand for all are dialled by loopback', () => {
  expect(['0.0.0.0', '::', '::1', 'host'].map((host) => urlOf(host, 80))).toEqual([
    'http://127.0.0.1:80',
    'http://[::1]:80',
    'http://[::1]:80',
    'http://host:80',
  ]);
});
