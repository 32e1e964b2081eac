import { principalHeader } from '@acsp/operation';
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
const sent = () => gateway.principals.verify(gateway.service.seen.at(-1)?.headers[principalHeader] as string);

/** The digests that the service gets with a request. */
async function digests(path: string, body: object, question = keyed('same')) {
  expect((await gateway.post(path, body, question)).status).toBe(200);
  return sent().idempotency;
}

test('sends a repetition on with the digests of the first, and without the key itself', async () => {
  const first = await digests('tasks', { title: 'a' });
  expect(first).toEqual({ key: expect.stringMatching(/^[\w-]{43}$/), print: expect.stringMatching(/^[\w-]{43}$/) });
  expect(await digests('tasks', { title: 'a' })).toEqual(first);
  expect(gateway.service.seen.at(-1)?.headers).not.toHaveProperty('idempotency-key');
});

test('tells requests apart under one key by body and target', async () => {
  const [first, body, target] = [
    await digests('tasks', { title: 'a' }),
    await digests('tasks', { title: 'b' }),
    await digests('tasks/claim', { title: 'a' }),
  ];
  expect(new Set([first?.key, body?.key, target?.key]).size).toBe(1);
  expect(new Set([first?.print, body?.print, target?.print]).size).toBe(3);
});

test('tells keys and callers apart', async () => {
  const first = await digests('tasks', {});
  const other = await digests('tasks', {}, keyed('other'));
  const stranger = await digests('tasks', {}, keyed('same', gateway.identity.register()));
  expect(new Set([first?.key, other?.key, stranger?.key]).size).toBe(3);
  expect(first?.print).toBe(stranger?.print);
});

test('passes on that an answer is a replayed one', async () => {
  gateway.service.next((response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'idempotency-replayed': 'true' }).end('{"id":1}');
  });
  const reply = await gateway.post('tasks', {}, keyed('replayed'));
  expect(reply).toMatchObject({ status: 201, text: '{"id":1}', headers: { 'idempotency-replayed': 'true' } });
});

test('refuses a repetition while the first is in flight, and serves it afterwards', async () => {
  let finish = () => {};
  gateway.service.next((response, seen) => {
    finish = () => answerJson(200, {})(response, seen);
  });
  const before = served();
  const first = gateway.post('tasks', { title: 'slow' }, keyed('slow'));
  await eventually(() => served() > before);
  const second = await gateway.post('tasks', { title: 'slow' }, keyed('slow'));
  expect(second.json).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS', retry_after_seconds: 1 });
  expect(second.headers['retry-after']).toBe('1');
  expect((await gateway.post('tasks', { title: 'slow' }, keyed('slow', gateway.identity.register()))).status).toBe(200);
  finish();
  expect((await first).status).toBe(200);
  expect((await gateway.post('tasks', { title: 'slow' }, keyed('slow'))).status).toBe(200);
});

test('a key is free again after a failure', async () => {
  gateway.service.next((response) => response.destroy());
  expect((await gateway.post('tasks', {}, keyed('failed'))).status).toBe(503);
  expect((await gateway.post('tasks', {}, keyed('failed'))).status).toBe(200);
});

describe('a signed request', () => {
  const question = (key: string) => ({ headers: { 'idempotency-key': key } });
  const message = (n: number) => signed(agent, { aid: agent.aid, aid_a: agent.aid, n, timestamp: now() });
  const refused = { status: 401, code: 'INVALID_SIGNATURE' };

  test('may be repeated with its key, and not without it or with another', async () => {
    const body = message(1);
    expect((await gateway.post('thread/message', body, question('s1'))).status).toBe(200);
    expect((await gateway.post('thread/message', body, question('s1'))).status).toBe(200);
    expect((await gateway.post('thread/message', body)).json).toMatchObject(refused);
    expect((await gateway.post('thread/message', body, question('s2'))).json).toMatchObject(refused);
  });

  test('that was spent without a key is not repeated with one', async () => {
    const body = message(2);
    expect((await gateway.post('thread/message', body)).status).toBe(200);
    expect((await gateway.post('thread/message', body, question('s3'))).json).toMatchObject(refused);
  });

  test('has no effect on the path of another service under the same key', async () => {
    const body = message(3);
    expect((await gateway.post('thread/message', body, question('s4'))).status).toBe(200);
    const before = served();
    const elsewhere = await gateway.post('search', body, question('s4'));
    expect(elsewhere.json).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(served()).toBe(before);
  });

  test('keeps its signature where the key is in flight or malformed', async () => {
    const body = message(4);
    const malformed = await gateway.post('thread/message', body, question('x'.repeat(256)));
    expect(malformed.status).toBe(400);
    expect((await gateway.post('thread/message', body)).status).toBe(200);
  });
});

test('ignores the key where the answer holds a secret, and on a GET', async () => {
  await gateway.post('connect', { login_key: agent.loginKey }, { headers: { 'idempotency-key': 'x'.repeat(256) } });
  expect(sent()).toMatchObject({ aid: agent.aid, idempotency: undefined });
  await gateway.get('tasks', keyed('ignored'));
  expect(sent()).toMatchObject({ aid: agent.aid, idempotency: undefined });
});

test.each(['', 'x'.repeat(256), 'tab\there', 'caf\u00e9'])('refuses %j as a key', async (key) => {
  const reply = await gateway.post('tasks', {}, keyed(key));
  expect(reply.json).toMatchObject({ status: 400, code: 'INVALID_FIELD', errors: [{ field: 'Idempotency-Key' }] });
});

test('needs the credential under a key too', async () => {
  const headers = { 'idempotency-key': 'same' };
  const reply = await ask(gateway.url, 'POST', '/api/acsp/tasks', { body: '{}', headers });
  expect(reply.json).toMatchObject({ code: 'AUTH_REQUIRED' });
});
