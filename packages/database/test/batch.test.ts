import { toAppError } from '@acsp/errors';
import { renderMetrics } from '@acsp/telemetry';
import { eventually } from '@acsp/testkit';
import pg from 'pg';
import { type BatchStatement, createBatch, createQuery } from '../src/index.js';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;

beforeAll(async () => {
  notes = await notesDatabase();
});
beforeEach(async () => {
  await notes.database.pool.query('TRUNCATE notes');
});
afterAll(() => notes[Symbol.asyncDispose]());

interface Note {
  readonly text: string;
  readonly seen: number;
}

interface Answer {
  readonly key: string;
  readonly seen: number;
  /** The transaction that it came from. */
  readonly run: string;
}

const columns = { text: 'text', seen: 'int' };
const key = ({ text }: Note) => text;
const run = 'pg_current_xact_id()::text AS run';

/** Fails on a division by zero. */
const insert: BatchStatement<Note, Answer> = {
  name: 'insert',
  columns,
  key,
  text: `, made AS (INSERT INTO notes (text, seen) SELECT text, 12 / seen FROM input RETURNING text, seen) SELECT text AS key, seen, ${run} FROM made`,
};

const count: BatchStatement<Note, Answer> = {
  name: 'count',
  columns,
  key,
  text: `, changed AS (UPDATE notes SET seen = notes.seen + input.seen FROM input WHERE notes.text = input.text RETURNING notes.text, notes.seen)
    SELECT text AS key, seen, ${run} FROM changed`,
};

const read: BatchStatement<Note, Answer> = {
  name: 'read',
  columns,
  key,
  readOnly: true,
  text: `SELECT notes.text AS key, notes.seen, ${run} FROM input JOIN notes USING (text)`,
};

const ask = (statement: BatchStatement<Note, Answer>, ...inputs: Note[]) =>
  Promise.all(inputs.map((input) => notes.database.batch(statement, input)));
const codes = (answers: Promise<unknown>[]) =>
  Promise.all(answers.map((answer) => answer.then(() => 'done').catch((error) => toAppError(error).code)));
const named = (texts: string, seen = 1): Note[] => [...texts].map((text) => ({ text, seen }));

/** Locks a note until the work is done that needs it locked. */
async function whileLocked(text: string, work: (waiting: () => Promise<void>) => Promise<void>): Promise<void> {
  const [holder, watcher] = [1, 2].map(() => new pg.Client({ connectionString: notes.url })) as [pg.Client, pg.Client];
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query('BEGIN');
  await holder.query('SELECT FROM notes WHERE text = $1 FOR UPDATE', [text]);
  const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  try {
    await work(() => eventually(async () => (await watcher.query(waits)).rowCount === 1).then(() => {}));
  } finally {
    await Promise.all([holder.end(), watcher.end()]);
  }
}

test('what is asked in one turn is one statement, and each gets its own row', async () => {
  const answers = await ask(insert, { text: 'a', seen: 1 }, { text: 'b', seen: 2 }, { text: 'c', seen: 3 });
  expect(answers).toMatchObject([
    { key: 'a', seen: 12 },
    { key: 'b', seen: 6 },
    { key: 'c', seen: 4 },
  ]);
  expect(new Set(answers.map((answer) => answer?.run)).size).toBe(1);
});

test('an input that the statement has no row for is answered undefined', async () => {
  await ask(insert, ...named('a'));
  expect(await ask(count, ...named('ab'))).toMatchObject([{ key: 'a', seen: 13 }, undefined]);
});

test('an input that fails does not fail those it shares a statement with', async () => {
  const answers = [...named('a'), ...named('b', 0), ...named('c')].map((input) => notes.database.batch(insert, input));
  expect(await codes(answers)).toEqual(['done', 'INTERNAL_ERROR', 'done']);
  expect(await notes.database.prisma.note.count()).toBe(2);
});

test('inputs of one key run one after the other, each on what the one before it left', async () => {
  await ask(insert, ...named('a'));
  const answers = await ask(count, ...named('aaaa'));
  expect(answers.map((answer) => answer?.seen)).toEqual([13, 14, 15, 16]);
});

test('readers of one key share its row', async () => {
  await ask(insert, ...named('ab'));
  const answers = await ask(read, ...named('aab'));
  expect(answers.map((answer) => answer?.key)).toEqual(['a', 'a', 'b']);
  expect(answers[0]).toBe(answers[1]);
});

test('a key that waits for a lock does not hold up others', async () => {
  await ask(insert, ...named('abc'));
  await whileLocked('a', async (waiting) => {
    const stuck = ask(count, ...named('a'));
    await waiting();
    expect(await ask(count, ...named('bc'))).toMatchObject([{ seen: 13 }, { seen: 13 }]);
    stuck.catch(() => {});
  });
});

test('what waits behind a lock for two seconds is told that the service is unavailable', async () => {
  await ask(insert, ...named('a'));
  await whileLocked('a', async (waiting) => {
    const [first, second] = named('aa').map((input) => notes.database.batch(count, input));
    await waiting();
    expect(await codes([first, second] as Promise<unknown>[])).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
  });
  const seen = 12;
  expect(await notes.database.prisma.note.findMany()).toMatchObject([{ seen }]);
}, 15_000);

test('a statement that PostgreSQL begins too late, because it stood still, does nothing', async () => {
  const query = createQuery(notes.database.pool);
  let commits = 0;
  const late = createBatch({
    write: query,
    read: query,
    clockAheadMs: () => -10_000,
    onCommit: () => void commits++,
    isOpen: () => true,
  });
  expect(await codes(named('ab').map((input) => late(insert, input)))).toEqual(Array(2).fill('SERVICE_UNAVAILABLE'));
  expect(await notes.database.prisma.note.count()).toBe(0);
  expect(commits).toBe(0);
  expect(await codes(named('a').map((input) => late(read, input)))).toEqual(['done']);
});

test('a server whose clock is ahead is asked by its own clock', async () => {
  const query = createQuery(notes.database.pool);
  const ahead = createBatch({
    write: query,
    read: query,
    clockAheadMs: () => 3_600_000,
    onCommit: () => {},
    isOpen: () => true,
  });
  expect(await ahead(insert, { text: 'a', seen: 1 })).toMatchObject({ seen: 12 });
});

test('a batch that wrote is a commit, and one that read is none', async () => {
  let commits = 0;
  notes.database.onCommit(() => {
    commits += 1;
  });
  await ask(insert, ...named('ab'));
  expect(commits).toBe(1);
  await ask(read, ...named('ab'));
  expect(commits).toBe(1);
});

test('runs are timed by statement', async () => {
  await ask(insert, ...named('a'));
  expect(await renderMetrics()).toMatch(/acsp_batch_seconds_count\{statement="insert"\} [1-9]/);
});

test('a statement that PostgreSQL would plan for each run is refused', async () => {
  const planned = {
    ...count,
    text: ', found AS (SELECT side.* FROM (SELECT text FROM input) AS side) SELECT text AS key FROM found',
  };
  await expect(async () => notes.database.batch(planned, { text: 'a', seen: 1 })).rejects.toThrow('cannot be prepared');
});

test('inputs that wait for a run are exported by statement', async () => {
  const other = await notes.database.pool.connect();
  await ask(insert, ...named('a'));
  await other.query('BEGIN; SELECT FROM notes FOR UPDATE');
  const depth = async () => /acsp_batch_waiting\{statement="count"\} (\d+)/.exec(await renderMetrics())?.[1];
  const changes = [1, 2, 3].map((seen) => notes.database.batch(count, { text: 'a', seen }));
  await eventually(async () => (await depth()) === '2');
  await other.query('COMMIT');
  other.release();
  await Promise.all(changes);
  expect(await depth()).toBe('0');
});

test('two processes that change the same rows at once do not wait for each other in a circle', async () => {
  const [one, other] = [notes.database, notes.openOther()];
  await other.migrated;
  await ask(insert, ...named('abcdefgh'));
  const forwards = named('abcdefgh');
  const rounds = Array.from({ length: 20 }, () => [
    ...forwards.map((input) => one.batch(count, input)),
    ...[...forwards].reverse().map((input) => other.batch(count, input)),
  ]);
  await Promise.all(rounds.flat());
  const counted = await notes.database.prisma.note.findMany();
  expect(counted.map(({ seen }) => seen)).toEqual(Array(8).fill(12 + 2 * 20));
  const { rows } = await one.pool.query(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  expect(rows).toEqual([{ deadlocks: 0 }]);
});

test('without a server everything that waits is told so', async () => {
  const { batch } = notes.openOther('postgresql://nobody@127.0.0.1:1/nothing');
  expect(await codes(named('ab').map((input) => batch(count, input)))).toEqual(Array(2).fill('SERVICE_UNAVAILABLE'));
});
