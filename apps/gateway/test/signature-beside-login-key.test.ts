import { generateKeyPair } from '@acsp/crypto';
import type { Principal } from '@acsp/operation';
import type { TestAgent } from './support/fake-identity.js';
import { now, signed } from './support/signed.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
let agent: TestAgent;
const caller = () => gateway.service.seen.at(-1)?.caller as Principal;

beforeAll(async () => {
  gateway = await testGateway();
  agent = gateway.identity.register();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('takes a login key or a signature where either will do, the login key first', async () => {
  const fields = { aid: agent.aid, looking_for: 'x', timestamp: now() };
  expect((await gateway.post('search', signed(agent, fields))).status).toBe(200);
  expect(caller().via).toBe('signature');
  await gateway.post('search', fields, bearer(agent.loginKey));
  expect(caller().via).toBe('login_key');
  expect((await gateway.post('search', fields)).json?.code).toBe('AUTH_REQUIRED');
});

describe('a signature beside a login key', () => {
  const message = () => ({ aid: agent.aid, target_aid: 'f'.repeat(50), content: 'Signed', timestamp: now() });
  const send = (body: string) => gateway.post('message/send', body, bearer(agent.loginKey));

  test('is seen by the service, where it verifies; without one the request is not signed', async () => {
    expect((await send(signed(agent, message()))).status).toBe(200);
    expect(caller()).toMatchObject({ aid: agent.aid, via: 'login_key', signedAt: expect.any(Number) });
    expect((await send(JSON.stringify(message()))).status).toBe(200);
    expect(caller().signedAt).toBeUndefined();
  });

  test.each([
    ['INVALID_SIGNATURE', () => JSON.stringify({ ...message(), signature: '0'.repeat(128) })],
    ['INVALID_SIGNATURE', () => JSON.stringify({ ...message(), signature: 7 })],
    ['INVALID_SIGNATURE', () => signed(generateKeyPair(), message())],
    ['INVALID_TIMESTAMP', () => signed(agent, { ...message(), timestamp: undefined })],
    ['TIMESTAMP_OUT_OF_RANGE', () => signed(agent, { ...message(), timestamp: now(-310) })],
    ['AID_MISMATCH', () => ofAnother()],
  ])('is refused with %s', async (expected, body) => {
    expect((await send(body())).json?.code).toBe(expected);
  });

  function ofAnother(): string {
    const other = gateway.identity.register();
    return signed(other, { ...message(), aid: other.aid });
  }

  test('is good once', async () => {
    const body = signed(agent, message());
    expect((await send(body)).status).toBe(200);
    expect((await send(body)).json?.code).toBe('INVALID_SIGNATURE');
  });

  test('means nothing where the operation knows none', async () => {
    expect((await gateway.post('tasks', signed(agent, { title: 'x' }), bearer(agent.loginKey))).status).toBe(200);
    expect(caller().signedAt).toBeUndefined();
  });
});
