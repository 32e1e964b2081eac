import { createLoginKey } from '@acsp/crypto';
import type { Principal } from '@acsp/operation';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
const caller = () => gateway.service.seen.at(-1)?.caller as Principal;

beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test.each(['Bearer', 'bearer', 'BEARER'])('takes a login key as %s', async (scheme) => {
  const agent = gateway.identity.register();
  const reply = await gateway.get('tasks', { headers: { authorization: `${scheme} ${agent.loginKey}` } });
  expect(reply.status).toBe(200);
  expect(caller()).toMatchObject({ aid: agent.aid, via: 'login_key' });
});

test('requires a credential', async () => {
  expect((await gateway.get('tasks')).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  expect((await gateway.post('tasks', {})).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
});

test.each([
  ['an empty token', 'Bearer'],
  ['a token of white space', 'Bearer  \t '],
  ['another scheme', 'Basic bmtfOm5r'],
  ['a key without a scheme', createLoginKey().key],
  ['a key that is glued to the scheme', `Bearer${createLoginKey().key}`],
  ['an empty header', ''],
])('takes %s for no credential, and says how one is written', async (_, authorization) => {
  const { verifyLoginKey } = gateway.identity.asked;
  for (const path of ['tasks', 'account-delete', 'presence/sweep']) {
    const reply = await gateway.post(path, {}, { headers: { authorization } });
    expect(reply.json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
    expect(reply.json.detail).toMatch(/Authorization: Bearer <(login key|internal token)>/);
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="acsp"');
  }
  expect(gateway.identity.asked.verifyLoginKey).toBe(verifyLoginKey);
});

test.each([
  ['unknown', `Bearer ${createLoginKey().key}`],
  ['malformed', 'Bearer nk_short'],
])('refuses a login key that is %s', async (_, authorization) => {
  const reply = await gateway.get('tasks', { headers: { authorization } });
  expect(reply.json).toMatchObject({ status: 403, code: 'INVALID_LOGIN_KEY' });
});

test('refuses an expired login key', async () => {
  const agent = gateway.identity.register({ expiresAt: new Date(Date.now() - 1) });
  expect((await gateway.get('tasks', bearer(agent.loginKey))).json).toMatchObject({ code: 'INVALID_LOGIN_KEY' });
});

test('asks nobody about a malformed key', async () => {
  const before = gateway.identity.asked.verifyLoginKey;
  await gateway.get('tasks', bearer('nk_not+a+key'));
  expect(gateway.identity.asked.verifyLoginKey).toBe(before);
});

test('takes a login key in the body where the operation says so', async () => {
  const agent = gateway.identity.register();
  expect((await gateway.post('channels', { login_key: agent.loginKey })).status).toBe(200);
  expect(caller()).toMatchObject({ aid: agent.aid, via: 'login_key' });
  expect((await gateway.post('tasks', { login_key: agent.loginKey })).json).toMatchObject({ code: 'AUTH_REQUIRED' });
});

test.each([
  [undefined, 401, 'AUTH_REQUIRED'],
  [null, 401, 'AUTH_REQUIRED'],
  ['', 403, 'INVALID_LOGIN_KEY'],
  [7, 403, 'INVALID_LOGIN_KEY'],
  [createLoginKey().key, 403, 'INVALID_LOGIN_KEY'],
])('refuses %j as login_key of the body', async (login_key, status, code) => {
  expect((await gateway.post('channels', { login_key })).json).toMatchObject({ status, code });
});

test('lets the header win over the body', async () => {
  const agent = gateway.identity.register();
  const other = gateway.identity.register();
  await gateway.post('channels', { login_key: other.loginKey }, bearer(agent.loginKey));
  expect(caller().aid).toBe(agent.aid);
});

test('leaves a wrong key of account-delete to the service, but not a missing one', async () => {
  const agent = gateway.identity.register();
  expect((await gateway.post('account-delete', {})).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  for (const key of ['nk_wrong', createLoginKey().key]) {
    expect((await gateway.post('account-delete', {}, bearer(key))).status).toBe(200);
    expect(caller()).toMatchObject({ via: 'anonymous' });
    expect(caller().aid).toBeUndefined();
  }
  await gateway.post('account-delete', {}, bearer(agent.loginKey));
  expect(caller()).toMatchObject({ aid: agent.aid, via: 'login_key' });
});

test('lets anybody in where no credential is needed, and knows who it is where one may be given', async () => {
  const agent = gateway.identity.register();
  await gateway.get('channels');
  const rpc = 'acsp.messaging.v1.MessagingService/ListChannels';
  expect(caller()).toEqual({ name: '', via: 'anonymous', requestId: expect.any(String), rpc });
  await gateway.get('channels', bearer(agent.loginKey));
  expect(caller().aid).toBe(agent.aid);
  expect((await gateway.get('channels', bearer('nk_wrong'))).json).toMatchObject({ code: 'INVALID_LOGIN_KEY' });
});

test('takes an AID alone as a claim that nothing proves', async () => {
  const { aid } = gateway.identity.register();
  await gateway.get(`workspace/list?aid=${aid}`);
  expect(caller()).toMatchObject({ claimedAid: aid, via: 'aid' });
  expect(caller().aid).toBeUndefined();
  expect((await gateway.get('workspace/list')).json).toMatchObject({ status: 400, code: 'INVALID_AID' });
  expect((await gateway.get('workspace/list?aid=ABC')).json).toMatchObject({ status: 400, code: 'INVALID_AID' });
});

test('lets the scheduler in by the internal token alone', async () => {
  const agent = gateway.identity.register();
  expect((await gateway.post('presence/sweep', {}, bearer('the token of the scheduler'))).status).toBe(200);
  expect(caller()).toMatchObject({ via: 'internal' });
  expect((await gateway.post('presence/sweep', {})).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  for (const token of ['wrong', agent.loginKey]) {
    expect((await gateway.post('presence/sweep', {}, bearer(token))).json).toMatchObject({
      status: 401,
      code: 'INVALID_TOKEN',
    });
  }
});

test('accepts each of several internal tokens, so that one is replaced without a stop', async () => {
  const [fresh, old] = ['the next token of it', 'the last token of it'];
  await using two = await testGateway({ env: { INTERNAL_TOKEN: `${fresh},${old}` } });
  for (const token of [fresh, old]) expect((await two.post('presence/sweep', {}, bearer(token))).status).toBe(200);
  for (const token of ['the wrong token', `${fresh},${old}`]) {
    expect((await two.post('presence/sweep', {}, bearer(token))).json).toMatchObject({ code: 'INVALID_TOKEN' });
  }
});

test('lets nobody call internal operations where there is no internal token', async () => {
  await using closed = await testGateway({ env: { INTERNAL_TOKEN: '' } });
  expect((await closed.post('presence/sweep', {}, bearer(''))).status).toBe(401);
});

test('leaves the token of an event stream to the events service', async () => {
  await gateway.get('events/radio?token=a.b.c');
  expect(gateway.service.seen.at(-1)?.url).toBe('/api/acsp/events/radio?token=a.b.c');
  expect(caller()).toMatchObject({ via: 'anonymous' });
});
