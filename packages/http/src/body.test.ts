import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { readBody } from './body.js';

/** A request whose body is written by the test. */
function request(headers: Record<string, string> = {}) {
  const stream = Object.assign(new PassThrough(), { headers, complete: false });
  return { stream, message: stream as unknown as IncomingMessage };
}

const tooLarge = expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' });

test('a body is read whole, in however many pieces it comes', async () => {
  const { stream, message } = request();
  const body = readBody(message, 10);
  stream.write('hel');
  stream.end('lo');
  expect((await body).toString()).toBe('hello');
});

test('a body that is too large is refused as soon as that shows, and the rest can still be read', async () => {
  await expect(readBody(request({ 'content-length': '11' }).message, 10)).rejects.toEqual(tooLarge);
  const { stream, message } = request();
  const body = readBody(message, 10);
  stream.write('hello ');
  stream.write('world');
  await expect(body).rejects.toEqual(tooLarge);
  const rest: string[] = [];
  stream.on('data', (chunk) => rest.push(String(chunk))).resume();
  stream.end(', and more');
  await new Promise((resolve) => stream.once('end', resolve));
  expect(rest.join('')).toBe(', and more');
});

test('a sender that breaks off, now or before, is an error and no endless wait', async () => {
  const { stream, message } = request();
  const body = readBody(message, 10);
  stream.destroy();
  await expect(body).rejects.toThrow('broke off');
  await expect(readBody(message, 10)).rejects.toThrow('broke off');
});
