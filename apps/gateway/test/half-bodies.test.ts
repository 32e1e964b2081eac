import { connect, type Socket } from 'node:net';
import { eventually } from '@acsp/testkit';
import { statusesIn } from './support/send-raw.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const body = '{"title":"whole"}';
const length = `Content-Length: ${body.length}`;
const inChunks = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
const asItIs = (part: string) => part;

function open(text: string): { socket: Socket; got: () => string } {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let got = '';
  socket.on('data', (piece) => {
    got += piece;
  });
  socket.write(text);
  return { socket, got: () => got };
}

/** Resolves when the limiter has counted a request of the agent besides those that this function sends. */
async function untilAdmitted(loginKey: string): Promise<void> {
  let sent = 0;
  await eventually(async () => {
    const { headers } = await gateway.get('tasks', bearer(loginKey));
    sent += 1;
    const [policy, state] = [String(headers['ratelimit-policy']), String(headers.ratelimit)];
    const used = Number(/q=(\d+)/.exec(policy)?.[1]) - Number(/r=(\d+)/.exec(state)?.[1]);
    expect(used).toBe(sent + 1);
  });
}

test.each([
  ['with a login key alone', [length], asItIs, ''],
  ['under an Idempotency-Key', ['Idempotency-Key: half', length], asItIs, ''],
  ['in chunks', ['Transfer-Encoding: chunked'], inChunks, '0\r\n\r\n'],
  ['that waits to be asked for its body', ['Expect: 100-continue', length], asItIs, ''],
])('a service is told of a request %s when its body is whole, and not before', async (_, headers, form, end) => {
  const { loginKey } = gateway.identity.register();
  const fixed = ['Host: a', `Authorization: Bearer ${loginKey}`, 'Content-Type: application/json'];
  const head = ['POST /api/acsp/tasks HTTP/1.1', ...fixed, ...headers].join('\r\n');
  const { socket, got } = open(`${head}\r\n\r\n${form(body.slice(0, 5))}`);
  await untilAdmitted(loginKey);
  // All that the service has heard of was whole, and not this.
  const before = gateway.service.seen.length;
  expect(gateway.service.begun()).toBe(before);
  socket.write(form(body.slice(5)) + end);
  await eventually(() => statusesIn(got()).includes(200));
  expect(gateway.service.begun()).toBe(before + 1);
  expect(gateway.service.seen.at(-1)?.body.toString()).toBe(body);
  socket.destroy();
});
