import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { commandLine } from '../process-lock.mjs';
import { startPostgres } from '../src/embedded-postgres.js';
import { spawnSource } from '../src/spawn-source.js';
import { query, useDataDirectory } from './data-directory.js';

const directory = useDataDirectory();
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const start = () => startPostgres({ dataDir: directory.path, fsync: false });

function spawnOwner(stderr: 'pipe' | 'inherit'): ChildProcess {
  const owner = spawnSource(new URL('./owner.ts', import.meta.url), [directory.path], {
    stdio: ['pipe', 'pipe', stderr],
  });
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
  expect(commandLine(pid)).toContain(directory.path);
  await using postgres = await start();
  expect(commandLine(pid)).toBeUndefined();
  expect(await query(postgres.url('kept'), 'SELECT answer FROM t')).toEqual([{ answer: 7 }]);
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
