import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { deleteExpired } from '@acsp/database';
import { describeWith, eventually, quietLog as log, spawnSource, type TestDatabase, testDatabase } from '@acsp/testkit';
import { connectPostgres, expiredKeys } from '../src/connect-postgres.js';
import { createRateLimiter, createStore } from '../src/index.js';

describeWith('postgres', 'in PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const start = (job: string, input: unknown) =>
    spawnSource(new URL('store-process.ts', import.meta.url), [database.url, job, JSON.stringify(input)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const openStore = () => createStore({ databaseUrl: database.url, prefix: '', onOutage: 'fail', log });
  const openLimiter = () => createRateLimiter({ databaseUrl: database.url, log });

  test('a key is still there when the process that added it was killed', async () => {
    const key = randomUUID();
    const [, signal] = await once(start('add', key), 'exit');
    expect(signal).toBe('SIGKILL');
    await using store = openStore();
    expect(await store.add(key, 'second', 60)).toBe(false);
    expect(await store.get(key)).toBe('first');
  });

  test('of three processes that add the same keys at once one gets each', async () => {
    const keys = Array.from({ length: 200 }, () => randomUUID());
    const children = [1, 2, 3].map(() => start('add all', keys));
    const added = await Promise.all(children.map(async ({ stdout }) => JSON.parse(await text(stdout as never))));
    expect(added.flat().sort()).toEqual(keys.sort());
  });

  /** A process has used a limit up, and was killed. */
  async function usedUp() {
    const [bucket, key] = [{ name: randomUUID(), limit: 3, windowSeconds: 60 }, randomUUID()];
    const child = start('consume', { bucket, key });
    await using postgres = connectPostgres(database.url, log);
    const written = 'SELECT FROM store.counter WHERE count = 3 AND key LIKE $1';
    await eventually(async () => (await postgres.resource.pool.query(written, [`%${key}`])).rowCount === 1, {
      timeoutMs: 20_000,
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    return { bucket, key };
  }

  /** Nobody reads the counts until it is disposed. */
  async function holdCounts() {
    const postgres = connectPostgres(database.url, log);
    await postgres.resource.opened();
    const holder = await postgres.resource.pool.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE store.counter');
    return {
      holder,
      async [Symbol.asyncDispose]() {
        await holder.query('ROLLBACK');
        holder.release();
        await postgres[Symbol.asyncDispose]();
      },
    };
  }

  test('a limit is still used up when the process that counted was killed', async () => {
    const { bucket, key } = await usedUp();
    await using limiter = openLimiter();
    const answer = await limiter.consume(bucket, key);
    expect(answer).toMatchObject({ allowed: false, remaining: 0 });
    expect(answer.resetSeconds).toBeGreaterThan(20);
    expect(answer.resetSeconds).toBeLessThanOrEqual(60);
  });

  test('a limit is still used up when the counts are there only after the first calls of the next process', async () => {
    const { bucket, key } = await usedUp();
    // Before the limiter is opened, which would read the counts at once.
    const held = await holdCounts();
    await using limiter = openLimiter();
    expect(await limiter.consume(bucket, key)).toMatchObject({ allowed: true });
    await held[Symbol.asyncDispose]();
    await eventually(() => limiter.isRefused(bucket, key) !== undefined);
  });

  test('the first call waits for the counts, however long the start took before it', async () => {
    const { bucket, key } = await usedUp();
    const held = await holdCounts();
    await using limiter = openLimiter();
    await held.holder.query('SELECT pg_sleep(2.2)');
    const first = limiter.consume(bucket, key);
    await held[Symbol.asyncDispose]();
    expect(await first).toMatchObject({ allowed: false });
  });

  test('expired rows are deleted, in more than one batch, and no others', async () => {
    await using postgres = connectPostgres(database.url, log);
    await using store = openStore();
    await store.set('kept', 'value', 60);
    const { pool } = postgres.resource;
    await pool.query(`INSERT INTO store.entry SELECT 'old ' || n, '', now() FROM generate_series(1, 4500) AS n`);
    await pool.query(`INSERT INTO store.counter SELECT 'old ' || n, 1, now() FROM generate_series(1, 2500) AS n`);
    await deleteExpired(pool, expiredKeys);
    const left = `SELECT key FROM store.entry WHERE key LIKE 'old %' UNION SELECT key FROM store.counter WHERE key LIKE 'old %'`;
    expect((await pool.query(left)).rows).toEqual([]);
    expect(await store.get('kept')).toBe('value');
  });

  test('a limiter that stops in order loses no count', async () => {
    const bucket = { name: randomUUID(), limit: 2, windowSeconds: 60 };
    const limiter = openLimiter();
    await limiter.consume(bucket, 'key');
    await limiter[Symbol.asyncDispose]();
    await using next = openLimiter();
    expect(await next.consume(bucket, 'key')).toMatchObject({ allowed: true, remaining: 0 });
  });
});

describe('while PostgreSQL is away', () => {
  const databaseUrl = 'postgresql://localhost:1/nowhere';

  test('a store says 503, and at once after the first two seconds', async () => {
    await using store = createStore({ databaseUrl, prefix: '', onOutage: 'memory', log });
    await expect(store.add('key', 'value', 10)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const since = performance.now();
    await expect(store.get('key')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(store.ready()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  test('a limiter counts, after two seconds at its start', async () => {
    await using limiter = createRateLimiter({ databaseUrl, log });
    const bucket = { name: randomUUID(), limit: 1, windowSeconds: 60 };
    expect(await limiter.consume(bucket, 'key')).toMatchObject({ allowed: true });
    expect(limiter.consume(bucket, 'key')).toMatchObject({ allowed: false });
  });
});
