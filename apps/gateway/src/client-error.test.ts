import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { openServer } from '@acsp/http';
import { answerClientError } from './client-error.js';

const patience = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };

/** A server that notes the requests which came whole, and what it does with a connection on which `text` is sent and, once it has answered, `rest`. */
async function sendOnly(text: string, rest = ''): Promise<{ got: string; whole: number }> {
  let [got, whole] = ['', 0];
  const server = createServer(patience, (request) => {
    request
      .on('error', () => {})
      .once('end', () => {
        whole += 1;
      });
    request.resume();
  });
  server.on('clientError', (error, socket) => void answerClientError(error, socket));
  await using open = await openServer(server, { port: 0, host: '127.0.0.1', drainMs: 0 });
  const socket = connect({ port: open.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.on('data', (piece) => {
    if (got === '' && rest !== '') socket.write(rest);
    got += piece;
  });
  socket.once('end', () => socket.end());
  if (text !== '') socket.write(text);
  await once(socket, 'close');
  return { got, whole };
}

test('closes a connection on which nothing is sent, without a word', async () => {
  expect(await sendOnly('')).toEqual({ got: '', whole: 0 });
});

test.each([
  ['the head', 'GET /api/acsp/status HTTP/1.1\r\nHost:'],
  ['the body', 'POST /api/acsp/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{'],
])('answers 408 where the rest of %s does not come', async (_, text) => {
  const [head = '', body = ''] = (await sendOnly(text)).got.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nContent-Type: application\/problem\+json/);
  expect(JSON.parse(body)).toMatchObject({ status: 408, title: 'Request Timeout' });
});

test('a request that was answered 408 is over, although its rest comes', async () => {
  const { got, whole } = await sendOnly('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{', '}');
  expect(got).toMatch(/^HTTP\/1\.1 408 /);
  expect(whole).toBe(0);
});
