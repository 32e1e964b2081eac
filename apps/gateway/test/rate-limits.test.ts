import { aidOf, createLoginKey, generateKeyPair } from '@acsp/crypto';
import { describeWith, ownRedis } from '@acsp/testkit';
import { now, signed } from './support/signed.js';
import { bearer, testGateway } from './support/test-gateway.js';

test('counts an agent against the limit that all task operations share', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMIT_SCALE: '0.1' } });
  const agent = gateway.identity.register();
  const first = await gateway.get('tasks', bearer(agent.loginKey));
  expect(first.headers['ratelimit-policy']).toBe('"tasks";q=3;w=60');
  expect(first.headers.ratelimit).toMatch(/^"tasks";r=2;t=\d+$/);
  await gateway.get('tasks/1', bearer(agent.loginKey));
  await gateway.post('tasks', {}, bearer(agent.loginKey));
  const refused = await gateway.post('tasks/claim', {}, bearer(agent.loginKey));
  expect(refused.json).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(refused.headers.ratelimit).toMatch(/^"tasks";r=0;t=\d+$/);
  expect(Number(refused.headers['retry-after'])).toBe(refused.json.retry_after_seconds);
  expect(refused.json.retry_after_seconds).toBeGreaterThan(0);
  expect(refused.json.retry_after_seconds).toBeLessThanOrEqual(60);
  expect(gateway.service.seen).toHaveLength(3);
});

test('counts each agent for itself, and other limits apart', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"tasks":1}', RATE_LIMIT_SCALE: '1' } });
  const [one, two] = [gateway.identity.register(), gateway.identity.register()];
  expect((await gateway.get('tasks', bearer(one.loginKey))).status).toBe(200);
  expect((await gateway.get('tasks', bearer(one.loginKey))).status).toBe(429);
  expect((await gateway.get('tasks', bearer(two.loginKey))).status).toBe(200);
  expect((await gateway.get('inbox', bearer(one.loginKey))).status).toBe(200);
});

test('counts strangers and newcomers by address, however many keys they make', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMIT_SCALE: '0.2', TRUST_PROXY: 'x-real-ip' } });
  const register = (address: string) => {
    const keys = generateKeyPair();
    const body = signed(keys, { public_key: keys.publicKey, timestamp: now() });
    return gateway.post('register', body, { headers: { 'x-real-ip': address } });
  };
  expect((await register('2001:db8::1')).status).toBe(200);
  expect((await register('2001:db8::2')).status).toBe(429);
  expect((await register('2001:db8:1::1')).status).toBe(200);
});

test('counts refused credentials against the address, without hurting those whose good one is known', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"tasks":2}', RATE_LIMIT_SCALE: '1' } });
  const agent = gateway.identity.register();
  expect((await gateway.get('inbox', bearer(agent.loginKey))).status).toBe(200);
  expect((await gateway.get('tasks', bearer('nk_wrong'))).status).toBe(403);
  expect((await gateway.get('tasks')).status).toBe(401);
  expect((await gateway.get('tasks', bearer('nk_wrong'))).status).toBe(429);
  expect((await gateway.get('tasks', bearer(agent.loginKey))).status).toBe(200);
});

test('looks no unknown key up for an address over its limit', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"tasks":3,"agent":3}', RATE_LIMIT_SCALE: '1' } });
  const statuses: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    statuses.push((await gateway.get('tasks', bearer(createLoginKey().key))).status);
    const stranger = generateKeyPair();
    const body = signed(stranger, { aid: aidOf(stranger.publicKey), timestamp: now() });
    statuses.push((await gateway.post('thread/message', body)).status);
  }
  expect(statuses.slice(0, 6)).toEqual([403, 404, 403, 404, 403, 404]);
  expect(new Set(statuses.slice(6))).toEqual(new Set([429]));
  expect(gateway.identity.asked).toMatchObject({ verifyLoginKey: 3, getSigningKey: 3 });
});

test.each([
  ['a body that is not JSON', '{', 400],
  ['a body over its limit', `"${'x'.repeat(70_000)}"`, 413],
])('counts %s against the address', async (_, body, status) => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"quickstart":2}', RATE_LIMIT_SCALE: '1' } });
  for (const expected of [status, status, 429]) expect((await gateway.post('quickstart', body)).status).toBe(expected);
  expect((await gateway.post('quickstart', '{}')).status).toBe(429);
});

test('counts refused credentials also where the operation has no limit', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"credentials":1}', RATE_LIMIT_SCALE: '1' } });
  expect((await gateway.post('presence/sweep', {}, bearer('wrong'))).status).toBe(401);
  expect((await gateway.post('presence/sweep', {}, bearer('wrong'))).status).toBe(429);
});

test('does not count an AID that nothing proves against the agent', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"inbox":1}', RATE_LIMIT_SCALE: '1' } });
  const agent = gateway.identity.register();
  await gateway.get('tasks', bearer(agent.loginKey));
  await gateway.get(`inbox?aid=${agent.aid}`);
  expect((await gateway.get(`inbox?aid=${agent.aid}`)).status).toBe(429);
  expect((await gateway.get('inbox', bearer(agent.loginKey))).status).toBe(200);
});

test('counts requests with a malformed Idempotency-Key', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMITS: '{"tasks":1}', RATE_LIMIT_SCALE: '1' } });
  const { loginKey } = gateway.identity.register();
  const headers = { ...bearer(loginKey).headers, 'idempotency-key': 'x'.repeat(256) };
  const first = await gateway.post('tasks', {}, { headers });
  expect(first.json).toMatchObject({ status: 400, code: 'INVALID_FIELD' });
  expect(first.headers).toHaveProperty('ratelimit');
  expect((await gateway.post('tasks', {}, { headers })).status).toBe(429);
});

test('has no limit on the health of the service', async () => {
  await using gateway = await testGateway({ env: { RATE_LIMIT_SCALE: '0.001' } });
  for (let i = 0; i < 3; i += 1) {
    const reply = await gateway.get('status');
    expect(reply.status).toBe(200);
    expect(reply.headers).not.toHaveProperty('ratelimit');
  }
});

describeWith('own redis', 'with Redis', () => {
  test('shares limits and used signatures between gateways', async () => {
    await using redis = await ownRedis();
    const env = { REDIS_URL: redis.url, RATE_LIMITS: '{"quickstart":1}', RATE_LIMIT_SCALE: '1' };
    await using one = await testGateway({ env });
    await using two = await testGateway({ env });
    expect((await one.post('quickstart', {})).status).toBe(200);
    expect((await two.post('quickstart', {})).status).toBe(429);
    const keys = generateKeyPair();
    const body = signed(keys, { public_key: keys.publicKey, timestamp: now() });
    expect((await one.post('register', body)).status).toBe(200);
    expect((await two.post('register', body)).json).toMatchObject({ code: 'INVALID_SIGNATURE' });
  });

  test('goes on limiting and refusing replays while Redis is down', async () => {
    await using redis = await ownRedis();
    await using gateway = await testGateway({
      env: { REDIS_URL: redis.url, RATE_LIMITS: '{"tasks":2}', RATE_LIMIT_SCALE: '1' },
    });
    const agent = gateway.identity.register();
    expect((await gateway.get('tasks', bearer(agent.loginKey))).status).toBe(200);
    await redis.kill();
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await gateway.get('tasks', bearer(agent.loginKey))).status);
    expect(statuses).toContain(200);
    expect(statuses.at(-1)).toBe(429);
    const body = signed(agent, { aid: agent.aid, timestamp: now() });
    expect((await gateway.post('thread/message', body)).status).toBe(200);
    expect((await gateway.post('thread/message', body)).json).toMatchObject({ code: 'INVALID_SIGNATURE' });
  });
});
