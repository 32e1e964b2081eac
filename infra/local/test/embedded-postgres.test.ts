import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { startPostgres } from '../src/embedded-postgres.js';
import { query, useDataDirectory } from './data-directory.js';

const directory = useDataDirectory();

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;
const leftOut = isRoot ? '' : ' [left out: only root can give a directory away]';

const start = (more: { port?: number } = {}) => startPostgres({ dataDir: directory.path, fsync: false, ...more });

test('keeps what was written when it is stopped and started again', async () => {
  {
    await using postgres = await start();
    await postgres.ensureDatabase('kept');
    await postgres.ensureDatabase('kept');
    await query(postgres.url('kept'), 'CREATE TABLE t AS SELECT 42 AS answer');
  }
  await using postgres = await start();
  expect(await query(postgres.url('kept'), 'SELECT answer FROM t')).toEqual([{ answer: 42 }]);
});

test('lets nobody in without the password, and tells it to nobody else', async () => {
  await using postgres = await start();
  const open = new URL(postgres.url('postgres'));
  open.password = 'guess';
  await expect(query(open.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  expect((await stat(join(directory.path, 'cluster/acsp.password'))).mode & 0o777).toBe(0o600);
  expect((await stat(directory.path)).mode & 0o777).toBe(0o700);
});

test('starts after the server itself was killed', async () => {
  const first = await start();
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  await first[Symbol.asyncDispose]();
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('is not fooled by a pid that now belongs to another process', async () => {
  await writeFile(join(directory.path, 'cluster/postmaster.pid'), `${process.pid}\n${directory.path}\n1\n1\n\n\n0 0\n`);
  await writeFile(join(directory.path, 'owners', `${process.pid}-1`), '');
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test.each([
  ['empty', ''],
  ['garbled', 'not a pid\n'],
  ['of the process itself', '0\n'],
])('starts beside a postmaster.pid that is %s', async (_kind, content) => {
  await writeFile(join(directory.path, 'cluster/postmaster.pid'), content);
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

asRoot(`says what to do where its user has no name${leftOut}`, async () => {
  await rm(directory.path, { recursive: true });
  mkdirSync(directory.path);
  await chown(directory.path, 12_345, 12_345);
  const message = expect.stringMatching(/user 12345 has no entry in \/etc\/passwd: add one, .* DATABASE_URL .*\.$/);
  await expect(start()).rejects.toMatchObject({ reason: 'UNAVAILABLE', message });
});

test('starts although a kill interrupted the making of the cluster', async () => {
  await rm(join(directory.path, 'cluster'), { recursive: true });
  await mkdir(join(directory.path, 'draft-killed/cluster'), { recursive: true });
  await writeFile(join(directory.path, 'draft-killed/cluster/PG_VERSION'), '18\n');
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

asRoot(`finds a place for the data when its user can not enter the directory it should be in${leftOut}`, async () => {
  await rm(directory.path, { recursive: true });
  await chmod(dirname(directory.path), 0o700);
  {
    await using postgres = await start();
    await postgres.ensureDatabase('kept');
  }
  const place = await readlink(directory.path);
  try {
    await using postgres = await start();
    expect(await query(postgres.url('kept'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
  } finally {
    await rm(place, { recursive: true });
  }
});

describe('says in one sentence', () => {
  const sentence = (text: string) => new RegExp(`^The data directory [^\\n]*${text}[^\\n]*\\.$`);
  test('that the directory was made by another version', async () => {
    await writeFile(join(directory.path, 'cluster/PG_VERSION'), '13\n');
    await expect(start()).rejects.toMatchObject({ reason: 'BROKEN', message: sentence('was made by PostgreSQL 13') });
  });

  test.each(['PG_VERSION', 'global/pg_control', 'acsp.password'])('that %s is missing', async (file) => {
    await rm(join(directory.path, 'cluster', file));
    await expect(start()).rejects.toMatchObject({ reason: 'BROKEN', message: sentence(`${file} is missing`) });
  });

  test('what the server said when it does not come up', async () => {
    await writeFile(join(directory.path, 'cluster/global/pg_control'), 'nonsense');
    const message = /^PostgreSQL did not start on [^\n]*pg_control[^\n]*\.$/;
    await expect(start()).rejects.toMatchObject({ reason: 'BROKEN', message });
  });

  test('that the port is taken', async () => {
    const other: Server = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const refusal = { reason: 'PORT_TAKEN', message: `Port ${port} of 127.0.0.1 is taken.` };
    await expect(start({ port })).rejects.toMatchObject(refusal);
    other.close();
    await using postgres = await start({ port });
    expect(postgres.port).toBe(port);
  });

  test('that a file stands where the directory should be', async () => {
    await rm(directory.path, { recursive: true });
    await writeFile(directory.path, '', { mode: 0o644 });
    const before = await stat(directory.path);
    await expect(start()).rejects.toMatchObject({ reason: 'UNAVAILABLE', message: sentence("can't be used") });
    expect(await readFile(directory.path, 'utf8')).toBe('');
    const { uid, mode } = before;
    expect(await stat(directory.path)).toMatchObject({ uid, mode });
  });
});
