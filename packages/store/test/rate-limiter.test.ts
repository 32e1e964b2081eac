import { randomUUID } from 'node:crypto';
import { renderMetrics } from '@acsp/telemetry';
import { describeWith, eventually, quietLog as log, serverUrl, type TestDatabase, testDatabase } from '@acsp/testkit';
import { createRateLimiter, type RateLimiter } from '../src/index.js';
import { connectedTo } from './connected-to.js';

describe('memory', () => contract(() => createRateLimiter({ log })));

describeWith('postgres', 'memory, kept in PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());
  contract(() => createRateLimiter({ databaseUrl: database.url, log }));
});

describeWith('redis', 'Redis', () => {
  let connected: AsyncDisposable;
  beforeAll(async () => {
    connected = await connectedTo(serverUrl('redis'));
  });
  afterAll(() => connected[Symbol.asyncDispose]());
  const open = () => createRateLimiter({ redisUrl: serverUrl('redis'), log });
  contract(open);

  test('replicas count together', async () => {
    await using one = open();
    await using other = open();
    const bucket = { name: randomUUID(), limit: 2, windowSeconds: 10 };
    expect(await one.consume(bucket, 'key')).toMatchObject({ allowed: true, remaining: 1 });
    expect(await other.consume(bucket, 'key')).toMatchObject({ allowed: true, remaining: 0 });
    expect(one.isRefused(bucket, 'key')).toBeUndefined();
    expect(await one.consume(bucket, 'key')).toMatchObject({ allowed: false, remaining: 0 });
  });
});

function contract(open: () => RateLimiter) {
  let limiter: RateLimiter;
  beforeAll(() => {
    limiter = open();
  });
  afterAll(() => limiter[Symbol.asyncDispose]());
  const consumed = (allowed: boolean, remaining: number) => ({ allowed, remaining, resetSeconds: 10 });

  test('counts down to the limit and then refuses', async () => {
    const bucket = { name: randomUUID(), limit: 2, windowSeconds: 10 };
    const next = () => limiter.consume(bucket, 'key');
    expect([await next(), await next(), await next(), await next()]).toEqual([
      consumed(true, 1),
      consumed(true, 0),
      consumed(false, 0),
      consumed(false, 0),
    ]);
  });

  test('refuses at once whom it refused before', async () => {
    const bucket = { name: randomUUID(), limit: 1, windowSeconds: 10 };
    const next = () => limiter.consume(bucket, 'key');
    expect([await next(), await next()]).toMatchObject([{ allowed: true }, { allowed: false }]);
    expect(next()).toEqual({ allowed: false, remaining: 0, resetSeconds: 10 });
    expect(await limiter.consume(bucket, 'another')).toMatchObject({ allowed: true });
  });

  test('knows that a limit is used up without counting a call', async () => {
    const bucket = { name: randomUUID(), limit: 2, windowSeconds: 10 };
    expect(limiter.isRefused(bucket, 'key')).toBeUndefined();
    expect(await limiter.consume(bucket, 'key')).toEqual(consumed(true, 1));
    expect(limiter.isRefused(bucket, 'key')).toBeUndefined();
    expect(await limiter.consume(bucket, 'key')).toEqual(consumed(true, 0));
    expect(limiter.isRefused(bucket, 'key')).toEqual(consumed(false, 0));
    expect(limiter.isRefused(bucket, 'another')).toBeUndefined();
  });

  test('knows how much room a limit has without counting a call', async () => {
    const bucket = { name: randomUUID(), limit: 2, windowSeconds: 10 };
    const rooms = [limiter.roomOf(bucket, 'key')];
    for (let call = 0; call < 3; call++) {
      await limiter.consume(bucket, 'key');
      rooms.push(limiter.roomOf(bucket, 'key'), limiter.roomOf(bucket, 'key'));
    }
    expect(rooms).toEqual([2, 1, 1, 0, 0, 0, 0]);
    expect(limiter.roomOf(bucket, 'another')).toBe(2);
  });

  test('counts refusals in its metrics', async () => {
    const bucket = { name: randomUUID(), limit: 1, windowSeconds: 10 };
    for (let call = 0; call < 3; call++) await limiter.consume(bucket, 'key');
    expect(await renderMetrics()).toContain(`acsp_limiter_refusals_total{limit="${bucket.name}"} 2`);
  });

  test('of twenty calls at once as many pass as the limit says', async () => {
    const bucket = { name: randomUUID(), limit: 5, windowSeconds: 10 };
    const calls = await Promise.all(Array.from({ length: 20 }, () => limiter.consume(bucket, 'key')));
    expect(calls.filter(({ allowed }) => allowed)).toHaveLength(5);
  });

  test('keys and buckets are counted apart', async () => {
    const bucket = { name: randomUUID(), limit: 1, windowSeconds: 10 };
    const other = { ...bucket, name: randomUUID() };
    expect(await limiter.consume(bucket, 'a')).toMatchObject({ allowed: true });
    expect(await limiter.consume(bucket, 'b')).toMatchObject({ allowed: true });
    expect(await limiter.consume(other, 'a')).toMatchObject({ allowed: true });
    expect(await limiter.consume(bucket, 'a')).toMatchObject({ allowed: false });
  });

  test('a new window starts when the old one ends', async () => {
    const bucket = { name: randomUUID(), limit: 1, windowSeconds: 1 };
    expect(await limiter.consume(bucket, 'key')).toMatchObject({ allowed: true });
    expect(await limiter.consume(bucket, 'key')).toMatchObject({ allowed: false, resetSeconds: 1 });
    await eventually(async () => (await limiter.consume(bucket, 'key')).allowed);
  });
}
