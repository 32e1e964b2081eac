import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import type { Postgres } from '@acsp/database';
import { describeWith, eventually, spawnSource, type TestDatabase, testDatabase } from '@acsp/testkit';
import { type Bus, type Relay, startRelay } from '../src/index.js';
import { type Broker, natsBroker, postgresBroker } from './brokers.js';
import { emitTask, openOutbox, unpublished } from './outbox.js';
import { quietLog as log } from './quiet-log.js';
import { titleOf } from './task-event.js';

describeWith(['own nats', 'postgres'], 'a relay to JetStream', () => publishesTheOutbox(natsBroker));
describeWith('postgres', 'a relay to PostgreSQL', () => publishesTheOutbox(postgresBroker));

function publishesTheOutbox(start: () => Promise<Broker>): void {
  let broker: Broker;
  let bus: Bus;
  let server: TestDatabase;
  let database: Postgres;
  let open: AsyncDisposable[] = [];
  let children: ChildProcess[] = [];
  let consumers = 0;

  beforeAll(async () => {
    broker = await start();
    bus = broker.connect();
    server = await testDatabase();
    database = openOutbox(server.url);
    await database.migrated;
    await eventually(() => bus.ready());
  });
  beforeEach(async () => {
    await database.pool.query('TRUNCATE bus.outbox');
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const each of open.reverse()) await each[Symbol.asyncDispose]();
    open = [];
    children = [];
  });
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await bus[Symbol.asyncDispose]();
    await broker[Symbol.asyncDispose]();
  });

  function relay(publish: Bus['publish'] = bus.publish): Relay {
    const relay = startRelay({
      ...{ database, bus: { ...bus, publish }, service: 'tasks', payloads: { task: TaskEventSchema }, log },
    });
    open.push(relay);
    return relay;
  }

  /** A relay in a process of its own, which may be told where to kill itself. */
  function relayProcess(point = ''): ChildProcess {
    const args = [server.url, JSON.stringify(broker.address), point];
    const child = spawnSource(new URL('relay-process.ts', import.meta.url), args, {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  /** The titles of this test's events, as a consumer handles them. */
  async function consumed(prefix: string): Promise<string[]> {
    const titles: string[] = [];
    const name = `relay-test${++consumers}`;
    const consumption = await bus.consume({
      name,
      subjects: ['acsp.tasks.>'],
      async handle(event) {
        const title = titleOf(event) ?? '?';
        if (title.startsWith(prefix)) titles.push(title);
      },
    });
    open.push(consumption);
    return titles;
  }

  const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

  async function emitAll(titles: readonly string[]): Promise<void> {
    for (const title of titles) await emitTask(database.pool, title);
  }

  test('publishes what was committed, in order, and keeps the rows as published', async () => {
    const titles = await consumed('plain');
    relay();
    await emitAll(numbered('plain', 20));
    await eventually(() => titles.length === 20);
    expect(titles).toEqual(numbered('plain', 20));
    await eventually(async () => (await unpublished(database.pool)) === 0);
    expect((await database.pool.query('SELECT FROM bus.outbox')).rowCount).toBe(20);
  });

  test('reads by its index, however small the table was when it began', async () => {
    const scans = async () => {
      const { rows } = await database.pool.query<{ seq: number; idx: number }>(
        "SELECT seq_scan::int AS seq, idx_scan::int AS idx FROM pg_stat_user_tables WHERE relid = 'bus.outbox'::regclass",
      );
      return rows[0] ?? { seq: 0, idx: 0 };
    };
    await emitTask(database.pool, 'small');
    await database.pool.query('UPDATE bus.outbox SET published_at = now()');
    await database.pool.query('VACUUM ANALYZE bus.outbox');
    await database.pool.query('SELECT pg_stat_force_next_flush()');
    const titles = await consumed('small');
    const before = await scans();
    relay();
    await emitAll(numbered('small', 3));
    await eventually(() => titles.length === 3);
    // A connection reports what it did within a second of rest.
    await eventually(async () => (await scans()).idx > before.idx);
    expect((await scans()).seq).toBe(before.seq);
  });

  test('publishes nothing of a transaction that was rolled back', async () => {
    const titles = await consumed('undone');
    const { wake } = relay();
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await emitTask(client, 'undone');
    await client.query('ROLLBACK');
    client.release();
    await emitTask(database.pool, 'undone not');
    wake();
    await eventually(() => titles.length > 0);
    expect(titles).toEqual(['undone not']);
  });

  test('publishes a row that commits after rows of higher positions', async () => {
    const titles = await consumed('late');
    const { wake } = relay();
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await emitTask(client, 'late one');
    await emitTask(database.pool, 'late: but this came first');
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
      const titles = await consumed(point);
      await emitAll(numbered(point, 10));
      const [, signal] = await once(relayProcess(point), 'exit');
      expect(signal).toBe('SIGKILL');
      expect(await unpublished(database.pool)).toBe(10);
      relay();
      await emitAll([`${point} more`]);
      await eventually(() => titles.length === 11);
      await eventually(async () => (await unpublished(database.pool)) === 0);
      expect(titles).toEqual([...numbered(point, 10), `${point} more`]);
    },
  );

  test('of two relays one publishes, and a standby that is woken wakes it', async () => {
    const published: string[] = [];
    const counting = (who: string) => async (service: string, events: Parameters<Bus['publish']>[1]) => {
      published.push(who);
      await bus.publish(service, events);
    };
    const titles = await consumed('pair');
    relay(counting('first'));
    await emitTask(database.pool, 'pair 0');
    await eventually(() => titles.length === 1);
    const standby = relay(counting('second'));
    for (let round = 1; round <= 5; round++) {
      await emitTask(database.pool, `pair ${round}`);
      standby.wake();
      await eventually(() => titles.length === round + 1, { timeoutMs: 400 });
    }
    expect(new Set(published)).toEqual(new Set(['first']));
  });

  test('when the relay that publishes is killed another one takes over within two seconds', async () => {
    const titles = await consumed('heir');
    const holder = relayProcess();
    await emitTask(database.pool, 'heir 0');
    await eventually(() => titles.length === 1);
    const { wake } = relay();
    holder.kill('SIGKILL');
    await emitTask(database.pool, 'heir 1');
    wake();
    await eventually(() => titles.length === 2, { timeoutMs: 2_000 });
  });

  test('keeps everything while the broker is down, and publishes it in order afterwards', async () => {
    const titles = await consumed('outage');
    const { wake } = relay();
    await emitAll(numbered('outage', 5));
    wake();
    await eventually(() => titles.length === 5);
    await broker.kill();
    await emitAll(numbered('outage', 10).slice(5));
    wake();
    expect(await unpublished(database.pool)).toBe(5);
    await broker.restart();
    await eventually(() => titles.length >= 10, { timeoutMs: 10_000 });
    expect(titles).toEqual(numbered('outage', 10));
  });

  test('refills a broker that has lost everything, and who had handled an event does not handle it again', async () => {
    const before = await consumed('refill');
    const { wake } = relay();
    await emitAll(numbered('refill', 5));
    wake();
    await eventually(async () => before.length === 5 && (await unpublished(database.pool)) === 0);
    await broker.lose();
    await database.pool.query(`UPDATE bus.outbox SET published_at = NULL WHERE published_at <> 'infinity'`);
    const after = await consumed('refill');
    await eventually(() => after.length === 5, { timeoutMs: 10_000 });
    expect(after).toEqual(numbered('refill', 5));
    expect(before).toHaveLength(5);
  });

  test('a row that cannot be published is parked and holds up nothing', async () => {
    const titles = await consumed('beside');
    relay();
    await database.pool.query(`INSERT INTO bus.outbox (id, type, audience, payload) VALUES
      (gen_random_uuid(), 'unknown.created', '{}', '{}'), (gen_random_uuid(), 'task.created', '{}', '{"title": 5}')`);
    await emitTask(database.pool, 'beside');
    await eventually(() => titles.length === 1);
    await eventually(async () => (await unpublished(database.pool)) === 0);
    const { rowCount } = await database.pool.query(`SELECT FROM bus.outbox WHERE published_at = 'infinity'`);
    expect(rowCount).toBe(2);
  });

  test('publishes what is left before it stops', async () => {
    const titles = await consumed('rest');
    const stopping = relay();
    await emitTask(database.pool, 'rest 0');
    await eventually(() => titles.length === 1);
    await emitAll(numbered('rest more', 700));
    await stopping[Symbol.asyncDispose]();
    expect(await unpublished(database.pool)).toBe(0);
  });
}
