import { generateKeyPair } from '@acsp/crypto';
import { memoryStore, type Store } from '@acsp/store';
import type { TestAgent } from './support/fake-identity.js';
import { now, signatureOf, signed } from './support/signed.js';
import { answerJson } from './support/stand-in.js';
import { type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
let agent: TestAgent;

beforeAll(async () => {
  gateway = await testGateway();
  agent = gateway.identity.register();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const message = (n: number) => signed(agent, { aid: agent.aid, aid_a: agent.aid, n, timestamp: now() });
const registration = () => {
  const keys = generateKeyPair();
  return signed(keys, { public_key: keys.publicKey, timestamp: now() });
};
const refused = { status: 401, code: 'INVALID_SIGNATURE' };

test('takes a signature once, whatever the path', async () => {
  const body = message(1);
  expect((await gateway.post('thread/message', body)).status).toBe(200);
  expect((await gateway.post('thread/message', body)).json).toMatchObject(refused);
  expect((await gateway.post('beaver', body)).json).toMatchObject(refused);
});

test('takes a signature once, whether it stands in the body or in the header', async () => {
  const text = JSON.stringify({ aid: agent.aid, n: 2, timestamp: now() });
  const signature = signatureOf(agent, text);
  expect((await gateway.post('thread/message', text, { headers: { 'x-signature': signature } })).status).toBe(200);
  const inBody = `${text.slice(0, -1)},"signature":"${signature.toUpperCase()}"}`;
  expect((await gateway.post('thread/message', inBody)).json).toMatchObject(refused);
});

test('takes it once from many at the same time', async () => {
  const body = message(3);
  const replies = await Promise.all(Array.from({ length: 8 }, () => gateway.post('thread/message', body)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('counts a refusal by the service as a use', async () => {
  const body = message(4);
  gateway.service.next(answerJson(409, { code: 'TASK_CLOSED' }));
  expect((await gateway.post('thread/message', body)).status).toBe(409);
  expect((await gateway.post('thread/message', body)).json).toMatchObject(refused);
});

test('gives a signature back when the service failed or broke off', async () => {
  const body = message(5);
  gateway.service.next(answerJson(500, { code: 'INTERNAL_ERROR' }));
  expect((await gateway.post('thread/message', body)).status).toBe(500);
  gateway.service.next((response) => response.destroy());
  expect((await gateway.post('thread/message', body)).status).toBe(503);
  expect((await gateway.post('thread/message', body)).status).toBe(200);
});

test('lets a signed request be repeated with its key when the service broke off in the middle of the answer', async () => {
  const body = message(9);
  const question = { headers: { 'idempotency-key': 'broken off' } };
  gateway.service.next((response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{');
    setImmediate(() => response.destroy());
  });
  await expect(gateway.post('thread/message', body, question)).rejects.toThrow();
  expect((await gateway.post('thread/message', body, question)).status).toBe(200);
  expect((await gateway.post('thread/message', body)).json).toMatchObject(refused);
});

test('ends a request whose answer breaks off while its signature is given back', async () => {
  await using memory = memoryStore();
  let brokenOff = Promise.resolve();
  const store = { ...memory, delete: (key: string) => brokenOff.then(() => memory.delete(key)) };
  await using slow = await testGateway({ overrides: { store } });
  slow.service.next((response) => {
    brokenOff = new Promise((resolve) => response.once('close', () => setTimeout(resolve, 50)));
    response.writeHead(502, { 'content-length': 100 }).write('{');
    setTimeout(() => response.destroy(), 20);
  });
  const keys = slow.identity.register();
  const body = signed(keys, { aid: keys.aid, n: 10, timestamp: now() });
  expect((await slow.post('thread/message', body)).json).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect((await slow.post('thread/message', body)).status).toBe(200);
});

test('a request over its limit keeps its signature, and a used one stays used', async () => {
  await using memory = memoryStore();
  let asked = 0;
  const add: Store['add'] = (key, value, ttlSeconds) => {
    asked += 1;
    return memory.add(key, value, ttlSeconds);
  };
  const store = { ...memory, add };
  await using strict = await testGateway({
    env: { RATE_LIMITS: '{"register":1}', RATE_LIMIT_SCALE: '1' },
    overrides: { store },
  });
  await using generous = await testGateway({ overrides: { store } });
  const [first, second] = [registration(), registration()];
  expect((await strict.post('register', first)).status).toBe(200);
  expect((await strict.post('register', second)).status).toBe(429);
  expect((await strict.post('register', first)).status).toBe(429);
  // The limiter knows that the limit is used up, so the store is not asked.
  expect(asked).toBe(1);
  expect((await generous.post('register', first)).json).toMatchObject(refused);
  expect((await generous.post('register', second)).status).toBe(200);
});

test('does not use a signature up that it refused', async () => {
  const body = message(6);
  expect((await gateway.post('thread/message', body.replace('"n":6', '"n":7'))).json).toMatchObject(refused);
  expect((await gateway.post('thread/message', body)).status).toBe(200);
});

test('remembers a signature without a timestamp', async () => {
  const body = signed(agent, { aid_a: agent.aid, n: 8 });
  expect((await gateway.post('beaver', body)).status).toBe(200);
  expect((await gateway.post('beaver', body)).json).toMatchObject(refused);
});
