import type { Log } from '@acsp/telemetry';
import { quietLog } from '@acsp/testkit';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;

beforeEach(async () => {
  notes = await notesDatabase();
});
afterEach(() => notes[Symbol.asyncDispose]());

const at = new Date('2026-07-01T12:00:00.123Z');

/** Writes and reads in each of the ways that services use, on connections made from now on. */
async function useAll(url = notes.url) {
  const other = notes.openOther(url);
  await other.migrated;
  const { query, prisma, batch } = other;
  await other.transaction(undefined, (tx) => tx.note.create({ data: { text: 'C:\\new', made_at: at } }));
  const text = `SELECT text, made_at, 0.1::float8 + 0.2 AS sum, current_setting('TimeZone') AS zone FROM notes`;
  const statement = {
    name: 'time',
    columns: { text: 'text' },
    key: (input: { readonly text: string }) => input.text,
    readOnly: true,
    text: 'SELECT notes.text AS key, made_at FROM notes JOIN input USING (text)',
  };
  return {
    raw: await query<object>({ text, values: [] }),
    found: await batch(statement, { text: 'C:\\new' }),
    kept: await prisma.note.findMany({ select: { text: true, made_at: true } }),
    unprepared: await prisma.$queryRaw`SELECT made_at, text = 'C:\\new' AS same FROM notes`,
  };
}

const expected = {
  raw: [{ text: 'C:\\new', made_at: at, sum: 0.1 + 0.2, zone: 'UTC' }],
  found: { key: 'C:\\new', made_at: at },
  kept: [{ text: 'C:\\new', made_at: at }],
  unprepared: [{ made_at: at, same: true }],
};

test.each([
  ["DateStyle = 'German, DMY'", 'the form of dates'],
  ["DateStyle = 'SQL, DMY'", 'the order of dates'],
  ["TimeZone = 'Europe/Berlin'", 'the time zone'],
  ["search_path = 'nowhere'", 'the path of schemas'],
  ['extra_float_digits = -15', 'the digits of numbers'],
  ['standard_conforming_strings = off', 'backslashes in literals'],
  ["default_transaction_isolation = 'serializable'", 'the isolation of transactions'],
])('the operator may set %s: %s is ours', async (setting) => {
  await notes.database.pool.query(`ALTER DATABASE ${new URL(notes.url).pathname.slice(1)} SET ${setting}`);
  expect(await useAll()).toEqual(expected);
});

test('options in the connection string leave ours as they are', async () => {
  const options = '-c TimeZone=Asia/Tokyo -c DateStyle=German -c enable_seqscan=on -c application_name=mine';
  expect(await useAll(`${notes.url}?options=${encodeURIComponent(options)}`)).toEqual(expected);
});

test('a connection that does nothing is not ended by the time-out that the operator has set for idle ones', async () => {
  await notes.database.pool.query(
    `ALTER DATABASE ${new URL(notes.url).pathname.slice(1)} SET idle_session_timeout = '1s'`,
  );
  const lost: string[] = [];
  const log: Log = { ...quietLog, warn: (_fields, message) => void lost.push(message) };
  const other = notes.openOther(notes.url, log);
  await other.migrated;
  const backend = async () =>
    (await other.query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid', values: [] }))[0];
  const first = await backend();
  await notes.database.pool.query('SELECT pg_sleep(2)');
  expect(await backend()).toEqual(first);
  expect(lost).toEqual([]);
});

test('each wait has the deadline of the service, whatever the operator has set', async () => {
  const { pool } = notes.database;
  await pool.query(`ALTER DATABASE ${new URL(notes.url).pathname.slice(1)} SET lock_timeout = '2s'`);
  await pool.query(`ALTER DATABASE ${new URL(notes.url).pathname.slice(1)} SET statement_timeout = '1min'`);
  const other = notes.openOther();
  await other.migrated;
  const text = `SELECT name, setting FROM pg_settings WHERE name LIKE '%\\_timeout' AND setting <> boot_val AND context = 'user'
    ORDER BY name`;
  expect(await other.query({ text, values: [] })).toEqual([
    { name: 'idle_in_transaction_session_timeout', setting: '5000' },
    { name: 'statement_timeout', setting: '5000' },
  ]);
});
