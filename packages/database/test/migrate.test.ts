import { createHash } from 'node:crypto';
import type { Log } from '@acsp/telemetry';
import { eventually, quietLog, type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { openPostgres, type Postgres } from '../src/index.js';
import { answerMigrations } from '../src/kept-answers.js';
import { MigrationError } from '../src/migrate.js';
import { type TestMigrations, testMigrations } from './migrations.js';
import { transactionPooler } from './transaction-pooler.js';

const first = 'CREATE TABLE notes (id int PRIMARY KEY);\nINSERT INTO notes VALUES (1);';
const second = 'ALTER TABLE notes ADD COLUMN text text -- without a semicolon';

let database: TestDatabase;
let migrations: TestMigrations;
let open: Postgres[] = [];
let said: string[] = [];
const log: Log = { ...quietLog, info: (_fields, message) => void said.push(message) };

beforeEach(async () => {
  database = await testDatabase();
  migrations = await testMigrations({ '1_notes': first, '2_text': second });
});
afterEach(async () => {
  for (const postgres of open) await postgres[Symbol.asyncDispose]();
  open = [];
  said = [];
  await migrations[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function start(url = database.url, migrates = true): Postgres {
  const sets = [answerMigrations, { directory: migrations.directory }];
  const postgres = openPostgres({ url, name: 'test', migrations: sets, migrates, poolSize: 1, log });
  open.push(postgres);
  return postgres;
}

async function query<R extends pg.QueryResultRow>(text: string): Promise<R[]> {
  const client = new pg.Client(database.url);
  await client.connect();
  const { rows } = await client.query<R>(text);
  await client.end();
  return rows;
}

const applied = () =>
  query<{ migration_name: string; checksum: string; finished: boolean; applied_steps_count: number }>(
    `SELECT migration_name, checksum, finished_at >= started_at AS finished, applied_steps_count
      FROM _prisma_migrations ORDER BY migration_name`,
  );

test('applies what is missing, in order, and records it as Prisma does', async () => {
  await start().migrated;
  const checksum = (sql: string) => createHash('sha256').update(sql).digest('hex');
  expect(await applied()).toEqual([
    { migration_name: '1_notes', checksum: checksum(first), finished: true, applied_steps_count: 1 },
    { migration_name: '2_text', checksum: checksum(second), finished: true, applied_steps_count: 1 },
  ]);
  expect(await query('SELECT id, text FROM notes')).toEqual([{ id: 1, text: null }]);
  expect(await query('SELECT * FROM idempotency.answer')).toEqual([]);
  expect(await query('SELECT migration_name FROM idempotency._prisma_migrations')).toHaveLength(1);
});

test('applies nothing again, and a later migration when it comes', async () => {
  await start().migrated;
  await migrations.write('3_more', 'INSERT INTO notes VALUES (2)');
  await start().migrated;
  await start().migrated;
  expect(await query('SELECT id FROM notes')).toHaveLength(2);
});

test('replicas that start together apply each migration once', async () => {
  await Promise.all([start(), start(), start()].map(({ migrated }) => migrated));
  expect(await query('SELECT id FROM notes')).toHaveLength(1);
});

test('a migration that fails leaves nothing behind, and says which one it was', async () => {
  await migrations.write('3_broken', 'INSERT INTO notes VALUES (2); INSERT INTO nowhere VALUES (1)');
  const { migrated, ping } = start();
  await expect(migrated).rejects.toThrow(/3_broken failed: relation "nowhere" does not exist/);
  await expect(ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await query('SELECT id FROM notes')).toHaveLength(1);
  await migrations.write('3_broken', 'INSERT INTO notes VALUES (2)');
  await start().migrated;
});

test('stops at a migration that failed under the command line', async () => {
  await start().migrated;
  await query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ('x', '', '3_half', 'disk full')`,
  );
  const error: unknown = await start().migrated.catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(MigrationError);
  expect(String(error)).toMatch(/3_half failed earlier \(disk full\)/);
  await query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = 'x'`);
  await start().migrated;
});

test('stops at a migration that was changed after it had been applied', async () => {
  await start().migrated;
  await migrations.write('1_notes', `${first} -- better`);
  await expect(start().migrated).rejects.toThrow(/1_notes was changed after it had been applied/);
});

test('waits for a database that is not there yet', async () => {
  const url = new URL(database.url);
  const name = `test_${url.pathname.slice(6, 12)}_late`;
  url.pathname = `/${name}`;
  const { migrated, ping } = start(url.href);
  await expect(ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await query(`CREATE DATABASE ${name} TEMPLATE template0`);
  try {
    await migrated;
    await ping();
  } finally {
    await open.pop()?.[Symbol.asyncDispose]();
    await query(`DROP DATABASE ${name} WITH (FORCE)`);
  }
});

test('can be closed while it waits', async () => {
  const postgres = start('postgresql://nobody@127.0.0.1:1/nothing');
  await postgres[Symbol.asyncDispose]();
  await expect(postgres.migrated).rejects.toThrow();
});

test('a migration waits for another one in another process, and is applied after it', async () => {
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(72707369)');
  const { migrated, ping } = start();
  await expect(ping()).rejects.toThrow();
  await holder.end();
  await migrated;
  await eventually(() => ping());
});

test('a checkout with CRLF is no other migration', async () => {
  await start().migrated;
  await migrations.write('1_notes', first.replaceAll('\n', '\r\n'));
  await start().migrated;
  expect(await query('SELECT id FROM notes')).toHaveLength(1);
});

describe('a migration that may not run in a transaction', () => {
  const index = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS notes_text ON notes (text);\n';
  const script = `-- no-transaction\n${index}-- The second step.\nINSERT INTO notes VALUES (2) ON CONFLICT DO NOTHING;\n`;

  test('is applied statement by statement, and once', async () => {
    await migrations.write('3_index', script);
    await start().migrated;
    await start().migrated;
    expect(await query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'notes_text'::regclass`)).toEqual([
      { indisvalid: true },
    ]);
    expect(await applied()).toMatchObject([
      {},
      {},
      { migration_name: '3_index', finished: true, applied_steps_count: 1 },
    ]);
  });

  test('runs again from its start when it broke off, corrected or not', async () => {
    await migrations.write('3_index', `${script}SELECT 1 / 0;\n`);
    await expect(start().migrated).rejects.toThrow('3_index failed: division by zero');
    expect(await query('SELECT id FROM notes')).toHaveLength(2);
    expect(await applied()).toMatchObject([{}, {}, { migration_name: '3_index', finished: null }]);
    await expect(start().migrated).rejects.toThrow('3_index failed: division by zero');
    await migrations.write('3_index', script);
    await start().migrated;
    expect(await applied()).toMatchObject([{}, {}, { migration_name: '3_index', finished: true }]);
    await migrations.write('3_index', `${script}-- better`);
    await expect(start().migrated).rejects.toThrow('3_index was changed after it had been applied');
  });
});

test('a process that does not migrate waits for one that does', async () => {
  const waiting = start(database.url, false);
  await expect(waiting.ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await start().migrated;
  await waiting.migrated;
  await eventually(() => waiting.ping());
  await migrations.write('3_more', 'INSERT INTO notes VALUES (2)');
  said = [];
  const later = start(database.url, false);
  let done = false;
  void later.migrated.then(() => {
    done = true;
  });
  await eventually(() => said.includes('migrations have to wait for another process'));
  expect(done).toBe(false);
  expect(await query('SELECT id FROM notes')).toHaveLength(1);
  await start().migrated;
  await later.migrated;
});

test('a database in another encoding is refused in a sentence', async () => {
  const url = new URL(database.url);
  const name = `${url.pathname.slice(1)}_ascii`;
  await query(`CREATE DATABASE ${name} ENCODING SQL_ASCII LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
  url.pathname = `/${name}`;
  try {
    const { migrated } = start(url.href);
    await expect(migrated).rejects.toThrow(
      new MigrationError("The database is encoded in SQL_ASCII: create it with ENCODING 'UTF8' TEMPLATE template0."),
    );
  } finally {
    await open.pop()?.[Symbol.asyncDispose]();
    await query(`DROP DATABASE ${name} WITH (FORCE)`);
  }
});

test('a pooler in transaction mode is refused in a sentence', async () => {
  await using pooler = await transactionPooler(database.url);
  await expect(start(pooler.url).migrated).rejects.toThrow('a pooler in transaction mode');
});
