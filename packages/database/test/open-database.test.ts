import { toAppError } from '@acsp/errors';
import { renderMetrics } from '@acsp/telemetry';
import { eventually, quietLog as log } from '@acsp/testkit';
import { createPool } from '../src/pool.js';
import { type NotesDatabase, notesDatabase } from './notes-database.js';

let notes: NotesDatabase;

beforeAll(async () => {
  notes = await notesDatabase();
});
beforeEach(async () => {
  await notes.database.pool.query('TRUNCATE notes');
});
afterAll(() => notes[Symbol.asyncDispose]());

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error: unknown) => toAppError(error).code,
  );

describe('a transaction', () => {
  test('writes all or nothing', async () => {
    const { database } = notes;
    const failing = database.transaction(undefined, async (tx) => {
      await tx.note.create({ data: { text: 'gone' } });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await database.prisma.note.count()).toBe(0);
  });

  test('that deadlocks with another one succeeds like the other one', async () => {
    const { database } = notes;
    await database.prisma.note.createMany({ data: [{ text: 'a' }, { text: 'b' }] });
    const seen = (text: string) => ({ where: { text }, data: { seen: { increment: 1 } } });
    let arrived = 0;
    const inOrder = (one: string, two: string) =>
      database.transaction(undefined, async (tx) => {
        await tx.note.update(seen(one));
        arrived++;
        await eventually(() => arrived >= 2);
        await tx.note.update(seen(two));
      });
    await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')]);
    expect(await database.prisma.note.findMany({ select: { seen: true } })).toEqual([{ seen: 2 }, { seen: 2 }]);
  });

  test('that loses every conflict ends as SERVICE_UNAVAILABLE', async () => {
    let attempts = 0;
    const losing = notes.database.transaction(undefined, async (tx) => {
      attempts++;
      await tx.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$`;
    });
    expect(await codeOf(losing)).toBe('SERVICE_UNAVAILABLE');
    expect(attempts).toBe(5);
  });
});

test('a database that is not there is SERVICE_UNAVAILABLE, raw or not: whoever restores it brings it back', async () => {
  const url = new URL(notes.url);
  url.pathname = '/nowhere';
  const { query, prisma } = notes.openOther(url.href);
  expect(await codeOf(query({ text: 'SELECT 1', values: [] }))).toBe('SERVICE_UNAVAILABLE');
  expect(await codeOf(prisma.note.count())).toBe('SERVICE_UNAVAILABLE');
});

test('pools of one name are one series with the sum of their connections, until the last of them ends', async () => {
  const total = async () =>
    Number(/acsp_database_connections\{pool="same",state="total"\} (\d+)/.exec(await renderMetrics())?.[1]);
  const pools = [1, 2].map((size) => createPool({ url: notes.url, name: 'same', size, log }));
  for (const pool of pools) await pool.query('SELECT 1');
  expect(await total()).toBe(2);
  await pools[1]?.end();
  expect(await total()).toBe(1);
  await pools[0]?.end();
  expect(await total()).toBeNaN();
});

test('a listener hears of each commit, and of no rollback', async () => {
  const { database } = notes;
  let commits = 0;
  database.onCommit(() => {
    commits += 1;
  });
  await database.transaction(undefined, (tx) => tx.note.create({ data: { text: 'kept' } }));
  expect(commits).toBe(1);
  const failing = database.transaction(undefined, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(commits).toBe(1);
});

test('options of the URL count beside our own, which they cannot undo', async () => {
  const { url } = notes;
  const other = notes.openOther(
    `${url}?options=-c%20work_mem%3D5MB%20-c%20TimeZone%3DEurope%2FBerlin&application_name=mine`,
  );
  const text = ['work_mem', 'timezone', 'enable_seqscan'].map((name) => `current_setting('${name}') AS ${name}`).join();
  const [row] = await other.query<object>({ text: `SELECT ${text}`, values: [] });
  expect(row).toEqual({ work_mem: '5MB', timezone: 'UTC', enable_seqscan: 'on' });
  const statement = {
    name: 'settings',
    columns: { key: 'text' },
    key: ({ key }: { key: string }) => key,
    readOnly: true,
  };
  const found = await other.batch({ ...statement, text: `SELECT key, ${text} FROM input` }, { key: 'a' });
  expect(found).toEqual({ key: 'a', work_mem: '5MB', timezone: 'UTC', enable_seqscan: 'off' });
});

test('times are right whatever the zone of the database', async () => {
  const { database, url } = notes;
  await database.pool.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET timezone = 'Europe/Berlin'`);
  const other = notes.openOther();
  const at = new Date('2026-07-01T12:00:00.123Z');
  await other.transaction(undefined, (tx) => tx.note.create({ data: { text: 'summer', made_at: at } }));
  expect(await other.prisma.note.findFirst()).toMatchObject({ made_at: at });
  const text = `SELECT text AS key, made_at, current_setting('timezone') AS zone FROM notes`;
  const [row] = await other.query<object>({ text, values: [] });
  expect(row).toEqual({ key: 'summer', made_at: at, zone: 'UTC' });
  const statement = {
    name: 'time',
    columns: { text: 'text', at: 'timestamptz' },
    key: ({ text }: { text: string; at: Date }) => text,
  };
  const matching = `SELECT notes.text AS key, made_at FROM notes JOIN input ON made_at = at`;
  const found = await other.batch({ ...statement, text: matching, readOnly: true }, { text: 'summer', at });
  expect(found).toEqual({ key: 'summer', made_at: at });
  const [raw] = await other.prisma.$queryRaw<object[]>`SELECT made_at, made_at = ${at} AS same FROM notes`;
  expect(raw).toEqual({ made_at: at, same: true });
});

describe('a statement', () => {
  test('is prepared once a connection, raw or not', async () => {
    const { prisma, pool } = notes.openOther();
    for (let round = 0; round < 3; round++) {
      await prisma.$queryRaw`SELECT ${round}::int AS number`;
      await prisma.note.findMany({ where: { text: String(round) } });
    }
    const { rows } = await pool.query('SELECT name FROM pg_prepared_statements');
    expect(rows).toHaveLength(2);
  });

  test('with a star survives a migration that adds a column', async () => {
    const { prisma, pool } = notes.openOther();
    for (const column of ['one', 'two']) {
      await prisma.$queryRaw`SELECT * FROM notes WHERE seen = ${1}`;
      await pool.query(`ALTER TABLE notes ADD COLUMN ${column} int`);
    }
    await prisma.$queryRaw`SELECT * FROM notes WHERE seen = ${1}`;
  });
});

describe('SERVICE_UNAVAILABLE is what a caller sees of', () => {
  test('a server that refuses connections', async () => {
    const { prisma, transaction, ping } = notes.openOther('postgresql://nobody@127.0.0.1:1/nothing');
    expect(await codeOf(prisma.note.count())).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(prisma.$queryRaw`SELECT 1`)).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(transaction(undefined, (tx) => tx.note.count()))).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(ping())).toBe('SERVICE_UNAVAILABLE');
  });

  test('a connection that is lost in the middle of a transaction', async () => {
    const { transaction, pool } = notes.database;
    const killed = transaction(undefined, async (tx) => {
      const [{ pid } = { pid: 0 }] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await pool.query('SELECT pg_terminate_backend($1)', [pid]);
      await eventually(async () => {
        const { rowCount } = await pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
        return rowCount === 0;
      });
      await tx.note.count();
    });
    expect(await codeOf(killed)).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(notes.database.prisma.note.count())).toBe('no error');
  });

  test('a pool with no connection to spare', async () => {
    const { prisma, pool } = notes.openOther();
    const client = await pool.connect();
    expect(await codeOf(prisma.note.count())).toBe('SERVICE_UNAVAILABLE');
    client.release();
    expect(await codeOf(prisma.note.count())).toBe('no error');
  });

  test('a statement that takes too long, and a transaction that does', async () => {
    const { transaction, prisma } = notes.database;
    const slow = transaction(undefined, async (tx) => {
      await tx.$executeRaw`SET LOCAL statement_timeout = 50`;
      await tx.$queryRaw`SELECT pg_sleep(1)::text`;
    });
    expect(await codeOf(slow)).toBe('SERVICE_UNAVAILABLE');
    const idle = prisma.$transaction(
      async (tx) => {
        const endsAt = Date.now() + 100;
        await eventually(() => Date.now() > endsAt);
        await tx.note.count();
      },
      { timeout: 50 },
    );
    expect(await codeOf(idle)).toBe('SERVICE_UNAVAILABLE');
  });

  test('a server that takes no writes', async () => {
    const { database, url } = notes;
    const name = new URL(url).pathname.slice(1);
    await database.pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const standby = notes.openOther();
    await eventually(async () => expect(await codeOf(standby.ping())).toBe('SERVICE_UNAVAILABLE'));
    const writing = standby.transaction(undefined, (tx) => tx.note.create({ data: { text: 'no' } }));
    expect(await codeOf(writing)).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(standby.prisma.note.create({ data: { text: 'no' } }))).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(standby.query({ text: `INSERT INTO notes (text) VALUES ('no')`, values: [] }))).toBe(
      'SERVICE_UNAVAILABLE',
    );
    expect(await codeOf(standby.prisma.note.count())).toBe('no error');
    await database.pool.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  });

  test('and a unique value that is taken stays what it is', async () => {
    const { note } = notes.database.prisma;
    await note.create({ data: { text: 'same' } });
    expect(await codeOf(note.create({ data: { text: 'same' } }))).toBe('INTERNAL_ERROR');
  });
});
