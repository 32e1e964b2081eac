import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createSendLarge } from './large-answers.js';

const settled = () => new Promise(setImmediate);

test('four large answers are on their way at a time, and the next begins when a reader has gone', async () => {
  const sendLarge = createSendLarge();
  const responses: ServerResponse[] = [];
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const server = createServer((_request, response) => {
    responses.push(response);
    if (responses.length === 6) arrive();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // They read nothing, and the answer is larger than what their sockets take.
  const readers = Array.from({ length: 6 }, () => connect(port, '127.0.0.1').pause());
  for (const reader of readers) reader.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived;
  const body = Buffer.alloc(32 * 2 ** 20);
  const sent = responses.map((response) => sendLarge(response, { status: 200, body }));
  await settled();
  const begun = () => responses.map(({ headersSent }) => headersSent);
  expect(begun()).toEqual([true, true, true, true, false, false]);
  responses[0]?.destroy();
  await sent[0];
  await settled();
  expect(begun()).toEqual([true, true, true, true, true, false]);
  for (const reader of readers) reader.destroy();
  server.closeAllConnections();
  server.close();
  await Promise.all(sent);
});
