import { eventually } from '@acsp/testkit';
import pg from 'pg';
import { createBoundedRead } from '../src/bounded-read.js';
import { createQuery, type Query } from '../src/index.js';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;
beforeAll(async () => {
  notes = await notesDatabase();
});
afterAll(() => notes[Symbol.asyncDispose]());

const count = { text: 'SELECT count(*)::int AS found FROM notes', values: [] };
const readNotes = (query: Query) => query<{ found: number }>(count);
const readNothing = (query: Query) => query<{ one: number }>({ text: 'SELECT 1 AS one', values: [] });

/** Keeps everybody from reading the notes until it is disposed. */
async function lockNotes() {
  const client = new pg.Client({ connectionString: notes.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE notes IN ACCESS EXCLUSIVE MODE');
  return {
    waiting: async () => {
      const { rows } = await client.query(`SELECT FROM pg_locks WHERE NOT granted AND relation = 'notes'::regclass`);
      return rows.length;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

test('reads that are slow hold two connections, and the pool of four stays for others', async () => {
  const { read, pool } = notes.database;
  const held = await lockNotes();
  const slow = Array.from({ length: 12 }, (_, n) => read(`notes ${n}`, readNotes));
  await eventually(() => pool.waitingCount > 0);
  // Those that wait for a connection come first.
  expect(await read('nothing', readNothing)).toEqual([{ one: 1 }]);
  await eventually(async () => pool.waitingCount === 0 && (await held.waiting()) === 2);
  expect(await read('nothing', readNothing)).toEqual([{ one: 1 }]);
  await held[Symbol.asyncDispose]();
  expect(await Promise.all(slow)).toEqual(Array(12).fill([{ found: 0 }]));
});

test('a kind that was slow waits for its lane at once, where too many are refused, until it is quick again', async () => {
  const { read, pool } = notes.database;
  const held = await lockNotes();
  const outcomes = Promise.allSettled(Array.from({ length: 40 }, () => read('notes', readNotes)));
  await eventually(async () => pool.waitingCount === 0 && (await held.waiting()) === 2);
  await held[Symbol.asyncDispose]();
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  // Two ran and 32 waited.
  expect(refused).toHaveLength(6);
  for (const { reason } of refused as PromiseRejectedResult[])
    expect(reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
  expect(await Promise.all(Array.from({ length: 40 }, () => read('notes', readNotes)))).toHaveLength(40);
});

test('a read that fails otherwise fails at once, and leaves its connection', async () => {
  const { read, pool } = notes.database;
  await expect(read('wrong', (query) => query({ text: 'SELECT 1 / 0', values: [] }))).rejects.toMatchObject({
    code: '22012',
  });
  expect(pool.idleCount).toBe(pool.totalCount);
});

test('a connection on which a cancel may come late is closed, and the read has its answer', async () => {
  await using pool = disposable(new pg.Pool({ connectionString: notes.url, max: 1 }));
  const query = createQuery(pool);
  const cancel = () => Promise.reject(new Error('not in time'));
  const read = createBoundedRead({ pool, name: 'closed', query, cancel });
  const backend = 'pg_backend_pid() AS backend';
  const slow = { text: `SELECT ${backend} FROM pg_sleep(0.6)`, values: [] };
  const [former] = await read('slow', (bounded) => bounded<{ backend: number }>(slow));
  const [next] = await query<{ backend: number }>({ text: `SELECT ${backend}`, values: [] });
  expect(former?.backend).toBeGreaterThan(0);
  expect(next?.backend).not.toBe(former?.backend);
});

const disposable = (pool: pg.Pool) => Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
