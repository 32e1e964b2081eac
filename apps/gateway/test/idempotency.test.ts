import { memoryStore } from '@acsp/store';
import { eventually } from '@acsp/testkit';
import { ask } from './support/ask.js';
import type { TestAgent } from './support/fake-identity.js';
import { now, signed } from './support/signed.js';
import { answerJson } from './support/stand-in.js';
import { type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
let agent: TestAgent;

beforeAll(async () => {
  gateway = await testGateway();
  agent = gateway.identity.register();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const keyed = (key: string, { loginKey } = agent) => ({
  headers: { authorization: `Bearer ${loginKey}`, 'idempotency-key': key },
});
const served = () => gateway.service.seen.length;

test('answers a repeated request with the first answer, without running it again', async () => {
  gateway.service.next((response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'retry-after': '7' }).end('{"task":{"id":1}}');
  });
  const first = await gateway.post('tasks', { title: 'a' }, keyed('k1'));
  const before = served();
  const second = await gateway.post('tasks', { title: 'a' }, keyed('k1'));
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(second).toMatchObject({ status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } });
  for (const { headers } of [first, second]) {
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'retry-after': '7' });
  }
  expect(served()).toBe(before);
});

test('keeps refusals too, but not failures', async () => {
  gateway.service.next(answerJson(409, { code: 'TASK_NOT_OPEN' }));
  gateway.service.next(answerJson(500, { code: 'INTERNAL_ERROR' }));
  expect((await gateway.post('tasks/claim', {}, keyed('k2'))).status).toBe(409);
  expect((await gateway.post('tasks/claim', {}, keyed('k2'))).status).toBe(409);
  expect((await gateway.post('tasks/claim', {}, keyed('k3'))).status).toBe(500);
  expect((await gateway.post('tasks/claim', {}, keyed('k3'))).status).toBe(200);
});

test('refuses another request under the same key', async () => {
  await gateway.post('tasks', { title: 'a' }, keyed('k4'));
  const reused = { status: 422, code: 'IDEMPOTENCY_KEY_REUSED' };
  expect((await gateway.post('tasks', { title: 'b' }, keyed('k4'))).json).toMatchObject(reused);
  expect((await gateway.post('tasks/claim', { title: 'a' }, keyed('k4'))).json).toMatchObject(reused);
});

test('blocks a key for a minute at most when the gateway dies in the middle', async () => {
  const store = memoryStore();
  const reserved: number[] = [];
  const add = (key: string, value: string, ttlSeconds: number) => {
    reserved.push(ttlSeconds);
    return store.add(key, value, ttlSeconds);
  };
  await using noting = await testGateway({ overrides: { store: { ...store, add } } });
  await noting.post('tasks', {}, keyed('k12', noting.identity.register()));
  expect(reserved).toEqual([60]);
});

test('tells callers apart', async () => {
  await gateway.post('tasks', { title: 'a' }, keyed('k5'));
  const reply = await gateway.post('tasks', { title: 'b' }, keyed('k5', gateway.identity.register()));
  expect(reply.status).toBe(200);
});

test('refuses a repetition while the first is running', async () => {
  let finish = () => {};
  gateway.service.next((response, seen) => {
    finish = () => answerJson(200, {})(response, seen);
  });
  const before = served();
  const first = gateway.post('tasks', { title: 'slow' }, keyed('k6'));
  await eventually(() => served() > before);
  const second = await gateway.post('tasks', { title: 'slow' }, keyed('k6'));
  expect(second.json).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' });
  expect(second.headers['retry-after']).toBe('1');
  finish();
  expect((await first).status).toBe(200);
});

test('keeps the answer for a caller who lost the connection', async () => {
  let finish = () => {};
  gateway.service.next((response, seen) => {
    finish = () => answerJson(201, { kept: true })(response, seen);
  });
  const before = served();
  const lost = new AbortController();
  const { headers } = keyed('k7');
  const init = {
    method: 'POST',
    body: '{}',
    headers: { ...headers, 'content-type': 'application/json' },
    signal: lost.signal,
  };
  const first = fetch(`${gateway.url}/api/acsp/tasks`, init);
  await eventually(() => served() > before);
  lost.abort();
  await expect(first).rejects.toThrow();
  finish();
  const second = await eventually(async () => {
    const reply = await gateway.post('tasks', '{}', keyed('k7'));
    return reply.status === 201 ? reply : false;
  });
  expect(second).toMatchObject({ headers: { 'idempotency-replayed': 'true' } });
});

test('lets a signed request be repeated with its key', async () => {
  const body = signed(agent, { aid: agent.aid, timestamp: now() });
  const question = { headers: { 'idempotency-key': 'k8' } };
  expect((await gateway.post('thread/message', body, question)).status).toBe(200);
  expect((await gateway.post('thread/message', body, question)).status).toBe(200);
  expect((await gateway.post('thread/message', body)).json).toMatchObject({ code: 'INVALID_SIGNATURE' });
});

test('does not keep answers that hold a secret, nor those of a GET', async () => {
  const before = served();
  for (let i = 0; i < 2; i += 1) {
    await gateway.post('connect', { login_key: agent.loginKey }, { headers: { 'idempotency-key': 'k9' } });
    await gateway.get('tasks', keyed('k10'));
  }
  expect(served()).toBe(before + 4);
});

test.each(['', 'x'.repeat(256), 'tab\there', 'caf\u00e9'])('refuses %j as a key', async (key) => {
  const reply = await gateway.post('tasks', {}, keyed(key));
  expect(reply.json).toMatchObject({ status: 400, code: 'INVALID_FIELD', errors: [{ field: 'Idempotency-Key' }] });
});

test('needs the credential for a kept answer', async () => {
  await gateway.post('tasks', {}, keyed('k11'));
  const headers = { 'idempotency-key': 'k11' };
  const reply = await ask(gateway.url, 'POST', '/api/acsp/tasks', { body: '{}', headers });
  expect(reply.json).toMatchObject({ code: 'AUTH_REQUIRED' });
});
