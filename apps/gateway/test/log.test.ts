import { eventually } from '@acsp/testkit';
import { now, signed, signedTarget } from './support/signed.js';
import { answerJson } from './support/stand-in.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await testGateway({ env: { UPSTREAM_TIMEOUT_MS: '300' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const lineOf = (id: string) =>
  eventually(
    () => gateway.log.map((line) => JSON.parse(line)).find((line) => line.request_id === id && line.status) ?? false,
  );

test('writes one line a request', async () => {
  const agent = gateway.identity.register();
  const headers = { authorization: `Bearer ${agent.loginKey}`, 'x-request-id': 'one' };
  await gateway.get('tasks/0198?x=1', { headers });
  expect(await lineOf('one')).toMatchObject({
    level: 'info',
    msg: 'request',
    method: 'GET',
    route: 'GET /api/acsp/tasks/{id}',
    status: 200,
    aid: agent.aid,
    duration_ms: expect.any(Number),
  });
  expect(gateway.log.filter((line) => line.includes('"one"'))).toHaveLength(1);
});

test("names the code of a refusal, the gateway's own or the service's", async () => {
  await gateway.get('tasks', { headers: { 'x-request-id': 'two' } });
  expect(await lineOf('two')).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  gateway.service.next(answerJson(404, { title: 'x', code: 'AID_NOT_FOUND' }));
  await gateway.get('status?aid=x', { headers: { 'x-request-id': 'three' } });
  expect(await lineOf('three')).toMatchObject({ status: 404, code: 'AID_NOT_FOUND' });
});

test('holds no secret, whatever became of the request', async () => {
  const agent = gateway.identity.register();
  const { loginKey } = agent;
  gateway.service.next((response) => response.destroy());
  await gateway.get('tasks', bearer(loginKey));
  await gateway.get('tasks', bearer(loginKey));
  await gateway.post('channels', { login_key: loginKey });
  await gateway.get('connect/one-time-token-of-the-path', { headers: { accept: 'application/json' } });
  await gateway.get('events/radio?token=stream-token-of-the-query');
  await gateway.get('nothing?token=stream-token-of-the-query');
  const body = signed(agent, { aid: agent.aid, timestamp: now() });
  await gateway.post('thread/message', body);
  await gateway.post('thread/message', body);
  const target = signedTarget(agent, `threads?aid=${agent.aid}&timestamp=${now()}`);
  gateway.service.next((response) => response.destroy());
  await gateway.get(target, { headers: { 'x-request-id': 'last' } });
  await lineOf('last');
  const log = gateway.log.join('');
  const secrets = [loginKey, 'token-of-the', target.slice(-128), JSON.parse(body).signature];
  for (const secret of secrets) expect(log).not.toContain(secret);
});
