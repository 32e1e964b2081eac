import type { Call, KeptAnswer, Once } from '@acsp/operation';
import { deleteExpired } from '../src/delete-expired.js';
import { expiredAnswers, RepeatedError } from '../src/kept-answers.js';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;

beforeAll(async () => {
  notes = await notesDatabase();
});
beforeEach(async () => {
  await notes.database.pool.query('TRUNCATE notes, idempotency.answer');
});
afterAll(() => notes[Symbol.asyncDispose]());

const onceFor = (key: string, print = 'print'): Once => ({
  key,
  print,
  encode: (answer): KeptAnswer => ({ status: 201, body: JSON.stringify(answer) }),
});

const callFor = (once: Once | undefined, deadline = Date.now() + 5_000): Call => ({
  caller: { name: 'Ann', via: 'login_key', requestId: 'r' },
  signal: new AbortController().signal,
  deadline,
  once,
  reply: { headers: {} },
});

const write = (call: Call, text = 'a') =>
  notes.database.transaction(call, async (tx) => {
    const { id } = await tx.note.create({ data: { text } });
    return { text, new: id > 0 };
  });
const written = () => notes.database.prisma.note.count();
const { reused } = { reused: expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED' }) };

test('the commit that makes the change keeps its answer', async () => {
  expect(await write(callFor(onceFor('k')))).toEqual({ text: 'a', new: true });
  expect(await notes.database.answers.find(onceFor('k'))).toEqual({ status: 201, body: '{"text":"a","new":true}' });
});

test('without a key nothing is kept', async () => {
  await write(callFor(undefined));
  expect((await notes.database.pool.query('SELECT FROM idempotency.answer')).rowCount).toBe(0);
});

test('a change that fails keeps nothing', async () => {
  await write(callFor(undefined));
  await expect(write(callFor(onceFor('k')))).rejects.toThrow();
  expect(await notes.database.answers.find(onceFor('k'))).toBeUndefined();
});

test('a change whose key has an answer already is rolled back', async () => {
  await write(callFor(onceFor('k')));
  await expect(write(callFor(onceFor('k')), 'b')).rejects.toThrow(RepeatedError);
  expect(await written()).toBe(1);
});

test('of two changes at once under one key one is made', async () => {
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((text) => write(callFor(onceFor('k')), text)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await written()).toBe(1);
});

test('neither change nor answer commits once the deadline has passed', async () => {
  await expect(write(callFor(onceFor('k'), Date.now() - 1))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await written()).toBe(0);
  expect(await notes.database.answers.find(onceFor('k'))).toBeUndefined();
});

test('an answer without a change is kept by itself, and the first one stands', async () => {
  const { answers } = notes.database;
  const [first, second] = [
    { status: 409, body: 'first' },
    { status: 200, body: 'second' },
  ];
  expect(await answers.keep(onceFor('k'), first)).toEqual(first);
  expect(await answers.keep(onceFor('k'), second)).toEqual(first);
  expect(await answers.find(onceFor('k'))).toEqual(first);
  const kept = await Promise.all(
    ['1', '2', '3', '4'].map((body) => answers.keep(onceFor('k2'), { status: 200, body })),
  );
  expect(new Set(kept.map(({ body }) => body)).size).toBe(1);
});

test('a key that belongs to another request is refused', async () => {
  const { answers } = notes.database;
  await answers.keep(onceFor('k'), { status: 200, body: '' });
  await expect(answers.find(onceFor('k', 'other'))).rejects.toEqual(reused);
  await expect(answers.keep(onceFor('k', 'other'), { status: 200, body: '' })).rejects.toEqual(reused);
});

test('answers are deleted after a day, and no earlier', async () => {
  const { pool, answers } = notes.database;
  await pool.query(`INSERT INTO idempotency.answer (key, print, status, body, created_at)
    SELECT 'old ' || n, '', 200, '', now() - interval '25 hours' FROM generate_series(1, 2500) AS n`);
  await pool.query(`INSERT INTO idempotency.answer VALUES ('new', 'print', 200, '', now() - interval '23 hours')`);
  await deleteExpired(pool, [expiredAnswers]);
  expect(await answers.find(onceFor('new'))).toBeDefined();
  expect((await pool.query('SELECT FROM idempotency.answer')).rowCount).toBe(1);
});
