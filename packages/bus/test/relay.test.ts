import { once } from 'node:events';
import { describeWith, eventually, metric } from '@acsp/testkit';
import type { Bus } from '../src/index.js';
import { type Broker, natsBroker, postgresBroker } from './brokers.js';
import { emitTask, unpublished } from './outbox.js';
import { numbered, relayHarness } from './relay-harness.js';

describeWith(['own nats', 'postgres'], 'a relay to JetStream', () => publishesTheOutbox(natsBroker));
describeWith('postgres', 'a relay to PostgreSQL', () => publishesTheOutbox(postgresBroker));

function publishesTheOutbox(start: () => Promise<Broker>): void {
  const { broker, bus, database, relay, replica, relayProcess, consumed, emitAll } = relayHarness(start);

  /** Ends the session of a leader somebody else waits for; answers how many there were. */
  async function terminate(application: string): Promise<number | null> {
    const { rowCount } = await database().pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND application_name = $1
          AND EXISTS (SELECT FROM pg_locks AS waiting WHERE waiting.locktype = 'advisory' AND NOT waiting.granted)`,
      [application],
    );
    return rowCount;
  }

  test('publishes what was committed, in order, and keeps the rows as published', async () => {
    const titles = consumed('plain');
    relay();
    await emitAll(numbered('plain', 20));
    await eventually(() => titles.length === 20);
    expect(titles).toEqual(numbered('plain', 20));
    await eventually(async () => (await unpublished(database().pool)) === 0);
    expect((await database().pool.query('SELECT FROM bus.outbox')).rowCount).toBe(20);
  });

  test('reads by its index, however small the table was when it began', async () => {
    const scans = async () => {
      const { rows } = await database().pool.query<{ seq: number; idx: number }>(
        "SELECT seq_scan::int AS seq, idx_scan::int AS idx FROM pg_stat_user_tables WHERE relid = 'bus.outbox'::regclass",
      );
      return rows[0] ?? { seq: 0, idx: 0 };
    };
    await emitTask(database().pool, 'small');
    await database().pool.query('UPDATE bus.outbox SET published_at = now()');
    await database().pool.query('VACUUM ANALYZE bus.outbox');
    // Every connection of the pool reports what it did so far.
    const { pool } = database();
    const flushes = Array.from({ length: pool.options.max }, () =>
      pool.query('SELECT pg_stat_force_next_flush(), pg_sleep(0.1)'),
    );
    await Promise.all(flushes);
    const titles = consumed('small');
    const before = await scans();
    relay();
    await emitAll(numbered('small', 3));
    await eventually(() => titles.length === 3);
    // A connection reports what it did within a second of rest.
    await eventually(async () => (await scans()).idx > before.idx);
    expect((await scans()).seq).toBe(before.seq);
  });

  test('publishes nothing of a transaction that was rolled back', async () => {
    const titles = consumed('undone');
    const { wake } = relay();
    const client = await database().pool.connect();
    await client.query('BEGIN');
    await emitTask(client, 'undone');
    await client.query('ROLLBACK');
    client.release();
    await emitTask(database().pool, 'undone not');
    wake();
    await eventually(() => titles.length > 0);
    expect(titles).toEqual(['undone not']);
  });

  test('publishes a row that commits after rows of higher positions', async () => {
    const titles = consumed('late');
    const { wake } = relay();
    const client = await database().pool.connect();
    await client.query('BEGIN');
    await emitTask(client, 'late one');
    await emitTask(database().pool, 'late: but this came first');
    wake();
    await eventually(() => titles.length === 1);
    await client.query('COMMIT');
    client.release();
    wake();
    await eventually(() => titles.length === 2);
    expect(titles[1]).toBe('late one');
  });

  test.each(['before publishing', 'after publishing'])(
    'killed %s it loses nothing, and nothing is seen twice',
    async (point) => {
      const titles = consumed(point);
      await emitAll(numbered(point, 10));
      const [, signal] = await once(relayProcess(point), 'exit');
      expect(signal).toBe('SIGKILL');
      expect(await unpublished(database().pool)).toBe(10);
      relay();
      await emitAll([`${point} more`]);
      await eventually(() => titles.length === 11);
      await eventually(async () => (await unpublished(database().pool)) === 0);
      expect(titles).toEqual([...numbered(point, 10), `${point} more`]);
    },
  );

  test('of two relays one publishes, and a standby that is woken wakes it', async () => {
    const published: string[] = [];
    const counting = (who: string) => async (service: string, events: Parameters<Bus['publish']>[1]) => {
      published.push(who);
      await bus().publish(service, events);
    };
    const titles = consumed('pair');
    relay({ publish: counting('first') });
    await emitTask(database().pool, 'pair 0');
    await eventually(() => titles.length === 1);
    const standby = relay({ publish: counting('second'), database: replica('standby') });
    for (let round = 1; round <= 5; round++) {
      await emitTask(database().pool, `pair ${round}`);
      standby.wake();
      await eventually(() => titles.length === round + 1, { timeoutMs: 400 });
    }
    expect(new Set(published)).toEqual(new Set(['first']));
  });

  test('when the relay that publishes is killed another one takes over within two seconds', async () => {
    const titles = consumed('heir');
    const holder = relayProcess();
    await emitTask(database().pool, 'heir 0');
    await eventually(() => titles.length === 1);
    const { wake } = relay();
    holder.kill('SIGKILL');
    await emitTask(database().pool, 'heir 1');
    wake();
    await eventually(() => titles.length === 2, { timeoutMs: 2_000 });
  });

  test("a relay that has lost its lock with its connection stops exporting a leader's gauge, until it leads again", async () => {
    const exported = async () => (await metric('acsp_outbox_lag_seconds{service="tasks"}')) !== undefined;
    const [leader, successor] = [replica('leader'), replica('successor')];
    const titles = consumed('deposed');
    relay({ database: leader });
    await emitTask(database().pool, 'deposed 0');
    await eventually(() => titles.length === 1);
    expect(await exported()).toBe(true);
    const client = await successor.pool.connect();
    // It queues for the lock, so that it has it before the relay can take it again.
    const taken = client.query(`SELECT pg_advisory_lock(hashtextextended('relay of tasks', 0))`);
    await eventually(async () => (await terminate('leader')) === 1);
    await taken;
    await eventually(async () => !(await exported()));
    await emitTask(database().pool, 'deposed 1');
    client.release(true);
    await eventually(() => titles.length === 2);
    expect(await exported()).toBe(true);
  });

  test('keeps everything while the broker is down, and publishes it in order afterwards', async () => {
    const titles = consumed('outage');
    const { wake } = relay();
    await emitAll(numbered('outage', 5));
    wake();
    await eventually(() => titles.length === 5);
    await broker().kill();
    await emitAll(numbered('outage', 10).slice(5));
    wake();
    expect(await unpublished(database().pool)).toBe(5);
    await broker().restart();
    await eventually(() => titles.includes('outage9'), { timeoutMs: 10_000 });
    // A consumer may get again what it handled just before the broker was killed.
    expect([...new Set(titles)]).toEqual(numbered('outage', 10));
  });

  test('exports how many events wait while the broker is down, of more than one batch too', async () => {
    const { wake } = relay();
    await broker().kill();
    const waiting = () => metric('acsp_outbox_waiting{service="tasks"}');
    await emitAll(numbered('depth', 5));
    wake();
    await eventually(async () => (await waiting()) === 5, { timeoutMs: 10_000 });
    await emitAll(numbered('depth more', 700));
    await eventually(async () => (await waiting()) === 705, { timeoutMs: 10_000 });
    await broker().restart();
    await eventually(async () => (await waiting()) === 0, { timeoutMs: 10_000 });
  });

  test('refills a broker that has lost everything, in order, for consumers old and new', async () => {
    const before = consumed('refill');
    const { wake } = relay();
    await emitAll(numbered('refill', 5));
    wake();
    await eventually(async () => before.length === 5 && (await unpublished(database().pool)) === 0);
    await broker().lose();
    await database().pool.query(`UPDATE bus.outbox SET published_at = NULL WHERE published_at <> 'infinity'`);
    const after = consumed('refill');
    // The position of the old one was lost with the broker.
    await eventually(() => after.length === 5 && before.length === 10, { timeoutMs: 10_000 });
    expect(after).toEqual(numbered('refill', 5));
    expect(before.slice(5)).toEqual(after);
  });

  test('a row that cannot be published is parked and holds up nothing', async () => {
    const titles = consumed('beside');
    relay();
    await database().pool.query(`INSERT INTO bus.outbox (id, type, audience, payload) VALUES
      (gen_random_uuid(), 'unknown.created', '{}', '{}'), (gen_random_uuid(), 'task.created', '{}', '{"title": 5}')`);
    await emitTask(database().pool, 'beside');
    await eventually(() => titles.length === 1);
    await eventually(async () => (await unpublished(database().pool)) === 0);
    const { rowCount } = await database().pool.query(`SELECT FROM bus.outbox WHERE published_at = 'infinity'`);
    expect(rowCount).toBe(2);
  });

  test('publishes what is left before it stops', async () => {
    const titles = consumed('rest');
    const stopping = relay();
    await emitTask(database().pool, 'rest 0');
    await eventually(() => titles.length === 1);
    await emitAll(numbered('rest more', 700));
    await stopping[Symbol.asyncDispose]();
    expect(await unpublished(database().pool)).toBe(0);
  });
}
