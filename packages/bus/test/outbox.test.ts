import { EventSchema } from '@acsp/contracts/events/v1/event';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { deleteExpired, newId, type Postgres } from '@acsp/database';
import { type TestDatabase, testDatabase } from '@acsp/testkit';
import { claimEvent, payloadOf } from '../src/index.js';
import { expiredEvents, type OutboxRow, toEvent } from '../src/outbox.js';
import { emitTask, executor, openOutbox, taskPayload } from './outbox.js';
import { taskEvent } from './task-event.js';

let server: TestDatabase;
let database: Postgres;

beforeAll(async () => {
  server = await testDatabase();
  database = openOutbox(server.url);
  await database.migrated;
});
beforeEach(() => database.pool.query('TRUNCATE bus.outbox, bus.processed'));
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const outboxRows = async () => (await database.pool.query<OutboxRow>('SELECT * FROM bus.outbox')).rows;

test('an event that was emitted comes out with its payload under public names', async () => {
  await emitTask(database.pool, 'as it was');
  const [row] = await outboxRows();
  const event = toEvent(row as OutboxRow, { task: TaskEventSchema });
  expect(event).toMatchObject({ type: 'task.created', audience: ['global'], id: row?.id });
  expect(payloadOf(TaskEventSchema, event)).toEqual(taskPayload('as it was'));
});

test('a payload of another message is no payload', () => {
  expect(() => payloadOf(EventSchema, taskEvent('any'))).toThrow(/carries no acsp\.events\.v1\.Event$/);
});

test('a field that this version does not know is left out, and a payload that is too large is refused', async () => {
  await emitTask(database.pool, 'later');
  const [row] = (await outboxRows()) as [OutboxRow];
  const payloads = { task: TaskEventSchema };
  const payload = { title: 'later', of_a_later_version: true };
  expect(payloadOf(TaskEventSchema, toEvent({ ...row, payload }, payloads))).toMatchObject({ title: 'later' });
  const large = { ...row, payload: { title: 'x'.repeat(600_000) } };
  expect(() => toEvent(large, payloads)).toThrow('The payload has 600');
  expect(() => toEvent({ ...row, type: 'constructor.created' }, payloads)).toThrow('No payload message is known');
});

test('events are deleted a day after their publication and claims after eight days; nothing else is', async () => {
  await database.pool.query(`INSERT INTO bus.outbox (id, type, occurred_at, audience, payload, published_at)
    SELECT gen_random_uuid(), kind, now() - interval '26 hours', '{}', '{}', published_at::timestamptz FROM
      (VALUES ('old', (now() - interval '25 hours')::text), ('new', now()::text), ('unpublished', NULL), ('parked', 'infinity'))
      AS kinds (kind, published_at),
      generate_series(1, CASE WHEN kind = 'old' THEN 2500 ELSE 1 END)`);
  await database.pool.query(`INSERT INTO bus.processed VALUES
    ('c', gen_random_uuid(), now() - interval '9 days'), ('c', gen_random_uuid(), now() - interval '7 days')`);
  await deleteExpired(database.pool, expiredEvents);
  expect((await outboxRows()).map(({ type }) => type).sort()).toEqual(['new', 'parked', 'unpublished']);
  expect((await database.pool.query('SELECT FROM bus.processed')).rowCount).toBe(1);
});

describe('claimEvent', () => {
  /** Each claim has a transaction of its own, which ends as the caller says. */
  async function claim(consumer: string, id: string, end: 'COMMIT' | 'ROLLBACK' = 'COMMIT'): Promise<boolean> {
    const client = await database.pool.connect();
    try {
      await client.query('BEGIN');
      const first = await claimEvent(executor(client), consumer, id);
      await client.query(end);
      return first;
    } finally {
      client.release();
    }
  }

  test('lets each consumer claim an event once, and again when its transaction failed', async () => {
    const id = newId();
    await claim('one', id, 'ROLLBACK');
    expect([await claim('one', id), await claim('one', id), await claim('two', id)]).toEqual([true, false, true]);
  });

  test('lets one of many deliveries at once claim the event', async () => {
    const id = newId();
    const claims = await Promise.all(Array.from({ length: 4 }, () => claim('one', id)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });
});
