import { eventually } from '@acsp/testkit';
import { withAdvisoryLock } from '../src/index.js';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;

beforeAll(async () => {
  notes = await notesDatabase();
});
afterAll(() => notes[Symbol.asyncDispose]());

/** A job that runs until it is told to end. */
function job() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state = { running: false, pid: 0 };
  const run = async (client: { query: (text: string) => Promise<{ rows: { pid: number }[] }> }) => {
    state.pid = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
    state.running = true;
    await ended;
    state.running = false;
  };
  return { state, run, end };
}

test('a job runs in one place at a time, and another job beside it', async () => {
  const { pool } = notes.database;
  const { state, run, end } = job();
  const first = withAdvisoryLock(pool, 'job', run);
  await eventually(() => state.running);
  expect(await withAdvisoryLock(pool, 'job', async () => {})).toBe(false);
  expect(await withAdvisoryLock(pool, 'other job', async () => {})).toBe(true);
  end();
  expect(await first).toBe(true);
  expect(await withAdvisoryLock(pool, 'job', async () => {})).toBe(true);
});

test('the lock ends with a job that throws', async () => {
  const { pool } = notes.database;
  const failing = withAdvisoryLock(pool, 'failing', async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await withAdvisoryLock(pool, 'failing', async () => {})).toBe(true);
});

test('the lock passes on when the connection of its holder is lost', async () => {
  const { pool } = notes.database;
  const [first, second] = [job(), job()];
  const holding = withAdvisoryLock(pool, 'heir', first.run);
  await eventually(() => first.state.running);
  const waiting = withAdvisoryLock(pool, 'heir', second.run, { retryMs: 20 });
  await pool.query('SELECT pg_terminate_backend($1)', [first.state.pid]);
  await eventually(() => second.state.running);
  first.end();
  second.end();
  await Promise.all([holding, waiting]);
});

test('waiting ends with the signal', async () => {
  const { pool } = notes.database;
  const { state, run, end } = job();
  const holding = withAdvisoryLock(pool, 'patience', run);
  await eventually(() => state.running);
  const stop = new AbortController();
  const waiting = withAdvisoryLock(pool, 'patience', async () => {}, { retryMs: 60_000, signal: stop.signal });
  stop.abort();
  expect(await waiting).toBe(false);
  end();
  await holding;
});
