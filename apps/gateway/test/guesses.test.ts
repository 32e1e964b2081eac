import { connect } from 'node:net';
import { aidOf, createLoginKey, generateKeyPair } from '@acsp/crypto';
import { describeWith, eventually, ownRedis } from '@acsp/testkit';
import type { Reply } from './support/ask.js';
import { now, signed } from './support/signed.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

// Credentials that nobody knows, sent at once: each look-up costs identity work, so an address gets no more of them than it may fail.

const limited = { RATE_LIMITS: '{"tasks":5,"agent":5,"account-delete":5,"revoke":5}', RATE_LIMIT_SCALE: '1' };
const body = { confirm: true, aid: 'a'.repeat(50) };

const guesses: [string, (gateway: TestGateway) => Promise<Reply>, number][] = [
  ['login keys', (gateway) => gateway.get('tasks', bearer(createLoginKey().key)), 403],
  ['login keys in bodies', (gateway) => gateway.post('channels', { login_key: createLoginKey().key }), 403],
  ['login keys that only the service refuses', (gateway) => deletion(gateway), 200],
  ['signatures', (gateway) => signedBy(gateway, 'thread/message'), 404],
  ['signatures of holders', (gateway) => signedBy(gateway, 'revoke'), 404],
];

const deletion = (gateway: TestGateway) => gateway.post('account-delete', body, bearer(createLoginKey().key));

function signedBy(gateway: TestGateway, path: string): Promise<Reply> {
  const keys = generateKeyPair();
  const { publicKey: public_key } = keys;
  return gateway.post(path, signed(keys, { aid: aidOf(public_key), public_key, timestamp: now() }));
}

const atOnce = <T>(many: number, send: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: many }, (_, n) => send(n)));
const statusesOf = (replies: Reply[]) => replies.map(({ status }) => status).sort();
const lookups = ({ identity: { asked } }: TestGateway) => asked.verifyLoginKey + asked.getSigningKey;

test.each(guesses)(
  'unknown %s that come at once cost as many look-ups as the limit allows',
  async (_, guess, status) => {
    await using gateway = await testGateway({ env: limited });
    const replies = await atOnce(60, () => guess(gateway));
    expect(statusesOf(replies)).toEqual([...Array<number>(5).fill(status), ...Array<number>(55).fill(429)]);
    expect(lookups(gateway)).toBe(5);
  },
);

test('good callers behind one address, all new at once, are served, and nothing is counted against it', async () => {
  await using gateway = await testGateway({ env: limited });
  const agents = Array.from({ length: 60 }, () => gateway.identity.register());
  expect(new Set(statusesOf(await atOnce(60, (n) => gateway.get('tasks', bearer(agents[n]?.loginKey ?? '')))))).toEqual(
    new Set([200]),
  );
  const guess = await gateway.get('tasks', bearer(createLoginKey().key));
  expect(guess.headers.ratelimit).toMatch(/^"tasks";r=4;/);
});

test('good callers among guesses are served as long as the limit has room', async () => {
  await using gateway = await testGateway({ env: limited });
  const agents = Array.from({ length: 30 }, () => gateway.identity.register());
  const good = atOnce(30, (n) => gateway.get('tasks', bearer(agents[n]?.loginKey ?? '')));
  const guessed = atOnce(4, () => gateway.get('tasks', bearer(createLoginKey().key)));
  expect(new Set(statusesOf(await good))).toEqual(new Set([200]));
  expect(statusesOf(await guessed)).toEqual([403, 403, 403, 403]);
});

test('a guess is counted before its body has come', async () => {
  await using gateway = await testGateway({ env: { ...limited, RATE_LIMITS: '{"tasks":1}' } });
  const { hostname, port } = new URL(gateway.url);
  const half = connect(Number(port), hostname);
  half.write(
    `POST /api/acsp/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${createLoginKey().key}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
  );
  await eventually(() => lookups(gateway) === 1);
  expect((await gateway.get('tasks', bearer(createLoginKey().key))).status).toBe(429);
  expect(lookups(gateway)).toBe(1);
  half.destroy();
});

describeWith('own redis', 'with Redis', () => {
  test('unknown login keys that come at once cost as many look-ups as the limit allows', async () => {
    await using redis = await ownRedis();
    await using gateway = await testGateway({ env: { ...limited, REDIS_URL: redis.url } });
    const replies = await atOnce(60, () => gateway.get('tasks', bearer(createLoginKey().key)));
    expect(statusesOf(replies)).toEqual([...Array<number>(5).fill(403), ...Array<number>(55).fill(429)]);
    expect(lookups(gateway)).toBe(5);
  });
});
