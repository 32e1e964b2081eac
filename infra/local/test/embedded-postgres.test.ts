import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { commandLine } from '../process-lock.mjs';
import { startPostgres } from '../src/embedded-postgres.js';
import { spawnSource } from '../src/spawn-source.js';

let root: string;
let template: string;
let dataDir: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  // A space and a quote: the path of a project may hold both.
  root = await mkdtemp(join(tmpdir(), "acsp it's a test-"));
  await chmod(root, 0o755);
  template = join(root, 'template');
  await using _ = await startPostgres({ dataDir: template, fsync: false });
});
beforeEach(() => {
  dataDir = join(root, randomUUID(), 'postgres');
  mkdirSync(dirname(dataDir));
  execFileSync('cp', ['-a', template, dataDir]);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(root, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;
const leftOut = isRoot ? '' : ' [left out: only root can give a directory away]';

const start = (more: { port?: number } = {}) => startPostgres({ dataDir, fsync: false, ...more });

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function spawnOwner(stderr: 'pipe' | 'inherit'): ChildProcess {
  const owner = spawnSource(new URL('./owner.ts', import.meta.url), [dataDir], { stdio: ['pipe', 'pipe', stderr] });
  children.push(owner);
  return owner;
}

async function startOwner(): Promise<{ owner: ChildProcess; pid: number; url: string }> {
  const owner = spawnOwner('inherit');
  return { owner, ...JSON.parse(await firstWord(owner)) };
}

/** The first line it prints, or all that it says when it fails. */
async function firstWord({ stdout, stderr }: ChildProcess): Promise<string> {
  const failure = stderr ? text(stderr) : new Promise<never>(() => {});
  const [line] = await Promise.race([
    once(createInterface({ input: stdout as Readable }), 'line'),
    failure.then((all) => [all]),
  ]);
  return line;
}

async function killed(owner: ChildProcess): Promise<void> {
  owner.kill('SIGKILL');
  await once(owner, 'exit');
}

async function ended(pid: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (commandLine(pid)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} still runs`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

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
  expect((await stat(join(dataDir, 'cluster/acsp.password'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

test('ends with its owner, even when the owner is killed', async () => {
  const { owner, pid } = await startOwner();
  await killed(owner);
  await ended(pid);
});

test('ends with an owner that leaves without stopping it', async () => {
  const { owner, pid } = await startOwner();
  owner.stdin?.write('leave\n');
  await once(owner, 'exit');
  await ended(pid);
});

test('starts at once after its owner was killed, with the data', async () => {
  const { owner, url } = await startOwner();
  await query(url, 'CREATE TABLE t AS SELECT 7 AS answer');
  await killed(owner);
  await using postgres = await start();
  expect(await query(postgres.url('kept'), 'SELECT answer FROM t')).toEqual([{ answer: 7 }]);
});

test('takes over from a server that lost its owner and its guard', async () => {
  const { owner, pid, url } = await startOwner();
  await query(url, 'CREATE TABLE t AS SELECT 7 AS answer');
  // Stopped while its owner dies, the guard can't do its work in time.
  const guards = execFileSync('ps', ['-o', 'pid=', '--ppid', String(owner.pid)], { encoding: 'utf8' });
  for (const guard of guards.split('\n').map(Number)) if (guard && guard !== pid) process.kill(guard, 'SIGKILL');
  await killed(owner);
  expect(commandLine(pid)).toContain(dataDir);
  await using postgres = await start();
  expect(commandLine(pid)).toBeUndefined();
  expect(await query(postgres.url('kept'), 'SELECT answer FROM t')).toEqual([{ answer: 7 }]);
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
  await writeFile(join(dataDir, 'cluster/postmaster.pid'), `${process.pid}\n${dataDir}\n1\n1\n\n\n0 0\n`);
  await writeFile(join(dataDir, 'owners', `${process.pid}-1`), '');
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test.each([
  ['empty', ''],
  ['garbled', 'not a pid\n'],
  ['of the process itself', '0\n'],
])('starts beside a postmaster.pid that is %s', async (_kind, content) => {
  await writeFile(join(dataDir, 'cluster/postmaster.pid'), content);
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

asRoot(`says what to do where its user has no name${leftOut}`, async () => {
  await rm(dataDir, { recursive: true });
  mkdirSync(dataDir);
  await chown(dataDir, 12_345, 12_345);
  const message = expect.stringMatching(/user 12345 has no entry in \/etc\/passwd: add one, .* DATABASE_URL .*\.$/);
  await expect(start()).rejects.toMatchObject({ reason: 'UNAVAILABLE', message });
});

test('refuses a data directory that a live process has, and leaves its server alone', async () => {
  const { owner, pid, url } = await startOwner();
  await expect(start()).rejects.toMatchObject({
    reason: 'IN_USE',
    message: new RegExp(`in use by process ${owner.pid}: [^.]+\\.`),
  });
  expect(commandLine(pid)).toBeDefined();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('gives one of two that start at the same moment the directory', async () => {
  const owners = [0, 1].map(() => spawnOwner('pipe'));
  const said = await Promise.all(owners.map(firstWord));
  expect(said.filter((word) => word.startsWith('{"pid"'))).toHaveLength(1);
  expect(said.filter((word) => /is in use by process/.test(word))).toHaveLength(1);
});

test('starts although a kill interrupted the making of the cluster', async () => {
  await rm(join(dataDir, 'cluster'), { recursive: true });
  await mkdir(join(dataDir, 'draft-killed/cluster'), { recursive: true });
  await writeFile(join(dataDir, 'draft-killed/cluster/PG_VERSION'), '18\n');
  await using postgres = await start();
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

asRoot(`finds a place for the data when its user can not enter the directory it should be in${leftOut}`, async () => {
  await rm(dataDir, { recursive: true });
  await chmod(dirname(dataDir), 0o700);
  {
    await using postgres = await start();
    await postgres.ensureDatabase('kept');
  }
  const place = await readlink(dataDir);
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
    await writeFile(join(dataDir, 'cluster/PG_VERSION'), '13\n');
    await expect(start()).rejects.toMatchObject({ reason: 'BROKEN', message: sentence('was made by PostgreSQL 13') });
  });

  test.each(['PG_VERSION', 'global/pg_control', 'acsp.password'])('that %s is missing', async (file) => {
    await rm(join(dataDir, 'cluster', file));
    await expect(start()).rejects.toMatchObject({ reason: 'BROKEN', message: sentence(`${file} is missing`) });
  });

  test('what the server said when it does not come up', async () => {
    await writeFile(join(dataDir, 'cluster/global/pg_control'), 'nonsense');
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
    await rm(dataDir, { recursive: true });
    await writeFile(dataDir, '');
    await expect(start()).rejects.toMatchObject({ reason: 'UNAVAILABLE', message: sentence("can't be used") });
    expect(await readFile(dataDir, 'utf8')).toBe('');
  });
});
