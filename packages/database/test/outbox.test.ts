import { claimEvent, emit, outboxRow } from '../src/index.js';
import { deleteExpired } from '../src/outbox.js';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;

beforeAll(async () => {
  notes = await notesDatabase();
});
beforeEach(async () => {
  await notes.database.pool.query('TRUNCATE bus.outbox, bus.processed');
});
afterAll(() => notes[Symbol.asyncDispose]());

const event = { type: 'note.written', audience: ['global', 'agent:x'], payload: { text: 'it\'s "quoted" \\ ünïcode' } };

test('an event is stored as it was emitted, with a time-ordered id and the time of the transaction', async () => {
  const { prisma, pool } = notes.database;
  await emit(prisma, { ...event, actor: 'x' });
  await emit(prisma, event);
  const { rows } = await pool.query('SELECT * FROM bus.outbox ORDER BY position');
  expect(rows).toMatchObject([
    { ...event, actor: 'x', published_at: null },
    { ...event, actor: null },
  ]);
  expect(rows[0].id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(rows[0].id < rows[1].id).toBe(true);
  expect(Math.abs(Date.now() - rows[0].occurred_at)).toBeLessThan(5_000);
});

test('an event of a transaction that fails is not emitted', async () => {
  const { transaction, pool } = notes.database;
  const failing = transaction(async (tx) => {
    await emit(tx, event);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect((await pool.query('SELECT FROM bus.outbox')).rowCount).toBe(0);
});

test('the row can be written inside a larger statement', async () => {
  const { prisma, pool } = notes.database;
  const { id, type, audience, actor, payload } = outboxRow(event);
  await prisma.$queryRaw`WITH note AS (INSERT INTO notes (text) VALUES ('together') RETURNING id)
    INSERT INTO bus.outbox (id, type, audience, actor, payload)
    SELECT ${id}::uuid, ${type}, ${audience}::text[], ${actor}, ${payload}::jsonb FROM note`;
  expect((await pool.query('SELECT * FROM bus.outbox')).rows).toMatchObject([event]);
});

test('an event is claimed once by each consumer, and again when its transaction failed', async () => {
  const { transaction } = notes.database;
  const { id } = outboxRow(event);
  const claim = (consumer: string) => transaction((tx) => claimEvent(tx, consumer, id));
  const failing = transaction(async (tx) => {
    await claimEvent(tx, 'one', id);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect([await claim('one'), await claim('one'), await claim('two')]).toEqual([true, false, true]);
});

test('of many deliveries at once one claims the event', async () => {
  const { transaction } = notes.database;
  const { id } = outboxRow(event);
  const claims = await Promise.all(Array.from({ length: 4 }, () => transaction((tx) => claimEvent(tx, 'one', id))));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test('what is past its time is deleted, and nothing else', async () => {
  const { pool } = notes.database;
  await pool.query(`INSERT INTO bus.outbox (id, type, occurred_at, audience, payload, published_at)
    SELECT gen_random_uuid(), kind, now() - interval '26 hours', '{}', '{}', published_at::timestamptz FROM
      (VALUES ('old', (now() - interval '25 hours')::text), ('new', now()::text), ('unpublished', NULL), ('parked', 'infinity'))
      AS kinds (kind, published_at),
      generate_series(1, CASE WHEN kind = 'old' THEN 2500 ELSE 1 END)`);
  await pool.query(`INSERT INTO bus.processed VALUES
    ('c', gen_random_uuid(), now() - interval '9 days'), ('c', gen_random_uuid(), now() - interval '7 days')`);
  expect(await deleteExpired(pool)).toBe(2_501);
  const { rows } = await pool.query('SELECT type FROM bus.outbox ORDER BY type');
  expect(rows.map(({ type }) => type)).toEqual(['new', 'parked', 'unpublished']);
  expect((await pool.query('SELECT FROM bus.processed')).rowCount).toBe(1);
});
