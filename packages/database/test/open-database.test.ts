import { toAppError } from '@acsp/errors';
import { eventually } from '@acsp/testkit';
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
    const failing = database.transaction(async (tx) => {
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
      database.transaction(async (tx) => {
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
    const losing = notes.database.transaction(async (tx) => {
      attempts++;
      await tx.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$`;
    });
    expect(await codeOf(losing)).toBe('SERVICE_UNAVAILABLE');
    expect(attempts).toBe(5);
  });
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
    expect(await codeOf(transaction((tx) => tx.note.count()))).toBe('SERVICE_UNAVAILABLE');
    expect(await codeOf(ping())).toBe('SERVICE_UNAVAILABLE');
  });

  test('a connection that is lost in the middle of a transaction', async () => {
    const { transaction, pool } = notes.database;
    const killed = transaction(async (tx) => {
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
    const slow = transaction(async (tx) => {
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

  test('and a unique value that is taken stays what it is', async () => {
    const { note } = notes.database.prisma;
    await note.create({ data: { text: 'same' } });
    expect(await codeOf(note.create({ data: { text: 'same' } }))).toBe('INTERNAL_ERROR');
  });
});
