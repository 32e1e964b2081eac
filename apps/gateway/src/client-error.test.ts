import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { openServer } from '@acsp/http';
import { answerClientError } from './client-error.js';

/** All that comes on a connection on which no more than this is sent, until the server closes it. */
async function sendOnly(text: string): Promise<string> {
  const server = createServer({ headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 });
  server.on('clientError', (error, socket) => void answerClientError(error, socket));
  await using open = await openServer(server, { port: 0, host: '127.0.0.1', drainMs: 0 });
  const socket = connect(open.port, '127.0.0.1');
  let got = '';
  socket.on('data', (piece) => {
    got += piece;
  });
  if (text !== '') socket.write(text);
  await once(socket, 'close');
  return got;
}

test('closes a connection on which nothing is sent, without a word', async () => {
  expect(await sendOnly('')).toBe('');
});

test.each([
  ['the head', 'GET /api/acsp/status HTTP/1.1\r\nHost:'],
  ['the body', 'POST /api/acsp/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{'],
])('answers 408 where the rest of %s does not come', async (_, text) => {
  const [head = '', body = ''] = (await sendOnly(text)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nContent-Type: application\/problem\+json/);
  expect(JSON.parse(body)).toMatchObject({ status: 408, title: 'Request Timeout' });
});
