import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { AppError } from '@acsp/errors';
import { renderMetrics } from '@acsp/telemetry';
import {
  collectLog,
  describeWith,
  eventually,
  type LocalServer,
  type LogLine,
  ownRedis,
  quietLog,
} from '@acsp/testkit';
import { Redis } from 'ioredis';
import { createRateLimiter, createStore, type RateLimiter, type Store } from '../src/index.js';

/** The outages that an operator sees: the process is gone, or it is there and does not answer. */
const outages = {
  killed: { begin: (redis: LocalServer) => redis.kill(), end: (redis: LocalServer) => redis.restart() },
  hanging: {
    begin: async ({ pid }: LocalServer) => void process.kill(pid, 'SIGSTOP'),
    end: async ({ pid }: LocalServer) => void process.kill(pid, 'SIGCONT'),
  },
};

const bucket = { name: 'test', limit: 3, windowSeconds: 60 };
const messagesOf = (lines: readonly LogLine[]) => lines.map(({ message }) => message);

describeWith('own redis', 'while Redis is', () => {
  describe.each(Object.entries(outages))('%s', (kind, { begin, end }) => {
    const { log, lines } = collectLog();
    let redis: LocalServer;
    let lasting: Store;
    let failing: Store;
    let limiter: RateLimiter;

    beforeAll(async () => {
      redis = await ownRedis();
      const options = { redisUrl: redis.url, log };
      lasting = createStore({ ...options, prefix: 'lasting:', onOutage: 'memory' });
      failing = createStore({ ...options, prefix: 'failing:', onOutage: 'fail' });
      limiter = createRateLimiter(options);
      await back();
    });
    beforeEach(async () => {
      await begin(redis);
      // From here on it is known to be away; what the first commands go through has tests of its own.
      await eventually(async () => !(await isReady()) && lines.at(-1)?.message === 'Redis is away');
    });
    afterEach(async () => {
      await end(redis);
      await back();
    });
    afterAll(async () => {
      for (const used of [lasting, failing, limiter]) await used[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    });

    const isReady = () =>
      failing.ready().then(
        () => true,
        () => false,
      );
    const back = () => eventually(isReady, { timeoutMs: 10_000 });

    test('a store that may fail says 503 at once, and works again afterwards', async () => {
      for (const refused of await within(atOnceMs, () => [
        failing.get('key'),
        failing.set('key', 'value', 10),
        failing.add('key', 'value', 10),
        failing.delete('key'),
        ...[failing, lasting].flatMap((store) => [
          store.schedule('name', 'member', 1),
          store.due('name', 1),
          store.unschedule('name', ['member']),
        ]),
        failing.ready(),
      ])) {
        expect(refused).toMatchObject({
          status: 'rejected',
          reason: { constructor: AppError, code: 'SERVICE_UNAVAILABLE' },
        });
      }
      await end(redis);
      await back();
      await failing.set('key', 'value', 10);
      expect(await failing.get('key')).toBe('value');
    });

    test('a store in memory goes on at once, and what it wrote holds afterwards', async () => {
      const [used, token, deleted] = [randomUUID(), randomUUID(), randomUUID()];
      await within(atOnceMs, () => [lasting.add(used, '1', 60), lasting.set(token, 'value', 60), lasting.ready()]);
      expect(await lasting.add(used, '2', 60)).toBe(false);
      expect(await lasting.get(token)).toBe('value');
      await lasting.set(deleted, 'value', 60);
      await lasting.delete(deleted);
      expect(await lasting.get(deleted)).toBeUndefined();

      await end(redis);
      await back();
      expect(await lasting.add(used, '3', 60)).toBe(false);
      expect(await lasting.get(token)).toBe('value');
      await using replica = createStore({ redisUrl: redis.url, prefix: 'lasting:', onOutage: 'fail', log });
      await eventually(async () => (await replica.get(used)) === '1');
    });

    test('a store whose memory is full refuses, and forgets nothing', async () => {
      await using small = createStore({ redisUrl: redis.url, prefix: 'small:', onOutage: 'memory', log });
      const tooLong = 'x'.repeat(64 * 2 ** 20);
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      expect([await small.add(first, '1', 60), await small.add(second, '1', 60)]).toEqual([true, true]);
      await expect(small.add(third, tooLong, 60)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      await expect(small.set(third, tooLong, 60)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect([await small.add(first, '2', 60), await small.add(second, '2', 60)]).toEqual([false, false]);
      expect(await lasting.add(randomUUID(), '1', 60)).toBe(true);

      await end(redis);
      await back();
      expect([await small.add(first, '2', 60), await small.add(second, '2', 60)]).toEqual([false, false]);
      await eventually(() => small.add(third, '1', 60));
    });

    test('the limiter keeps limiting from memory, at once', async () => {
      const key = randomUUID();
      const calls = await within(atOnceMs, () => [1, 2, 3, 4, 5].map(() => limiter.consume(bucket, key)));
      const allowed = [true, true, true, false, false];
      expect(calls).toMatchObject(allowed.map((value) => ({ status: 'fulfilled', value: { allowed: value } })));
      expect(await renderMetrics()).toMatch(/^acsp_limiter_local_total [1-9]/m);
    });

    test('a refusal that was counted in memory ends when Redis is back', async () => {
      const key = randomUUID();
      for (let call = 0; call < 3; call++) await limiter.consume(bucket, key);
      expect(limiter.isRefused(bucket, key)).toMatchObject({ allowed: false, remaining: 0 });
      expect(limiter.consume(bucket, key)).toMatchObject({ allowed: false, remaining: 0 });
      await end(redis);
      await back();
      expect(limiter.isRefused(bucket, key)).toBeUndefined();
      expect(await limiter.consume(bucket, key)).toMatchObject({ allowed: true, remaining: 2 });
    });

    test('the log says so once, and once that it is back', async () => {
      const before = lines.length;
      for (let n = 0; n < 20; n++) await lasting.get('key');
      await end(redis);
      await back();
      expect(messagesOf(lines.slice(before - 1))).toEqual(['Redis is away', 'Redis is back']);
    });

    test('an answer that waits for a busy process is not taken for an outage', async () => {
      await end(redis);
      await back();
      const before = lines.length;
      const [key, until] = [randomUUID(), performance.now() + 600];
      await failing.set(key, 'value', 60);
      const answer = failing.get(key);
      while (performance.now() < until);
      expect(await answer).toBe('value');
      expect(lines.slice(before)).toEqual([]);
    });

    if (kind === 'hanging') {
      test('the first commands of an outage end in time too', async () => {
        await end(redis);
        await back();
        await begin(redis);
        const [stored, limited, failed] = await within(1_000, () => [
          lasting.add(randomUUID(), '1', 60),
          limiter.consume(bucket, randomUUID()),
          failing.get('key'),
        ]);
        expect(stored).toEqual({ status: 'fulfilled', value: true });
        expect(limited).toMatchObject({ status: 'fulfilled', value: { allowed: true, remaining: 2 } });
        expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } });
        await within(atOnceMs, () => [
          lasting.get(randomUUID()),
          limiter.consume(bucket, randomUUID()),
          failing.get('key'),
        ]);
      });
    }
  });

  test('not there yet, a store comes up with it', async () => {
    const { log, lines } = collectLog();
    await using redis = await ownRedis();
    await redis.kill();
    await using store = createStore({ redisUrl: redis.url, prefix: '', onOutage: 'fail', log });
    await expect(store.get('key')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await eventually(() => lines.length === 1);
    await redis.restart();
    await eventually(() => store.set('key', 'value', 10).then(() => true), { timeoutMs: 10_000 });
    expect(messagesOf(lines)).toEqual(['Redis is away', 'Redis is back']);
  });

  test('a command that Redis refuses is a 503 whose cause gives no argument away', async () => {
    await using server = await ownRedis();
    await using store = createStore({ redisUrl: server.url, prefix: '', onOutage: 'fail', log: quietLog });
    await eventually(() => store.set('key', 'value', 60).then(() => true));
    const client = new Redis(server.url);
    await client.config('SET', 'maxmemory', '1');
    client.disconnect();
    const problem = await store.set('key', 'secret', 60).catch((error) => error);
    expect(problem).toMatchObject({ code: 'SERVICE_UNAVAILABLE', cause: { message: expect.stringMatching(/^OOM/) } });
    expect(inspect(problem, { depth: null })).not.toContain('secret');
  });

  test('set to evict keys when it is full, the log says so', async () => {
    const { log, lines } = collectLog();
    await using server = await ownRedis();
    const client = new Redis(server.url);
    await client.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
    client.disconnect();
    await using _store = createStore({ redisUrl: server.url, prefix: '', onOutage: 'fail', log });
    await eventually(() => lines.length === 1);
    expect(lines).toMatchObject([{ policy: 'allkeys-lru', message: expect.stringMatching(/^Redis evicts keys/) }]);
  });

  test('a connection is shared, and closes behind its last user without a word in the log', async () => {
    const { log, lines } = collectLog();
    await using redis = await ownRedis();
    const options = { redisUrl: redis.url, prefix: '', onOutage: 'fail', log } as const;
    const [store, other, limiter] = [createStore(options), createStore(options), createRateLimiter(options)];
    await eventually(() => store.ready().then(() => true));
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await limiter[Symbol.asyncDispose]();
    await other.set('key', 'value', 10);
    expect(await other.get('key')).toBe('value');
    await other[Symbol.asyncDispose]();
    await expect(other.get('key')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(lines).toEqual([]);
  });
});

/** Starts all at once and waits for all; fails when they take longer than `ms`. */
async function within(ms: number, start: () => unknown[]): Promise<PromiseSettledResult<unknown>[]> {
  const started = performance.now();
  const results = await Promise.allSettled(start());
  expect(performance.now() - started).toBeLessThan(ms);
  return results;
}

/** Less than the 250 ms after which a single command would give up. */
const atOnceMs = 200;
