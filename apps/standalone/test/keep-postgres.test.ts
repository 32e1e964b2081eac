import { chmod, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@acsp/local';
import { eventually } from '@acsp/testkit';
import { createCaller, type TestAgent } from './harness.js';
import { detailsFor, expectKept } from './restart/expect-kept.js';
import { startLoad } from './restart/load.js';
import { type StandaloneProcess, startProcess } from './restart/standalone-process.js';

let directory: string;
let standalone: StandaloneProcess;
const cluster = () => join(directory, 'postgres/cluster');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'acsp-postgres-'));
  // PostgreSQL runs as another user where the tests run as root.
  await chmod(directory, 0o755);
  standalone = await startProcess(directory);
});
afterEach(async () => {
  // A kill would leave its PostgreSQL behind, which still writes into the directory.
  await standalone.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The server's process, and what it says of itself: `starting` or `ready`. */
async function serverState(): Promise<{ readonly pid: number; readonly state: string }> {
  const lines = (await readFile(join(cluster(), 'postmaster.pid'), 'utf8')).split('\n');
  return { pid: Number(lines[0]), state: lines[7]?.trim() ?? '' };
}

async function killPostgres(): Promise<number> {
  const { pid } = await serverState();
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** Kills the server that was started in place of this one, before it is ready. */
async function killWhileStarting(before: number): Promise<number> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const { pid, state } = await serverState().catch(() => ({ pid: 0, state: '' }));
    if (pid > 0 && pid !== before) {
      process.kill(pid, 'SIGKILL');
      expect(state).not.toBe('ready');
      return pid;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('no server was started');
}

test('PostgreSQL killed under load is started again, and every promise is kept', async () => {
  const { call, quickstart } = createCaller(standalone.url);
  const creators = [await quickstart('Creator')] as [TestAgent];
  const { promised, ended } = await startLoad(standalone.url, creators, [await quickstart('Worker')]);
  for (let kills = 0; kills < 3; kills += 1) {
    const before = promised.posted.size;
    await eventually(() => promised.posted.size >= before + 10, { timeoutMs: 30_000 });
    await killPostgres();
  }
  await eventually(async () => expect((await call(undefined, 'GET /status')).status).toBe(200), { timeoutMs: 30_000 });
  const after = promised.posted.size;
  await eventually(() => promised.posted.size >= after + 10, { timeoutMs: 30_000 });
  expect(await standalone.stop()).toBe(0);
  await ended;
  standalone = await startProcess(directory);
  await expectKept(promised, detailsFor(standalone.url, creators[0]));
}, 150_000);

test('PostgreSQL killed while it recovers is started again', async () => {
  const { call } = createCaller(standalone.url);
  let pid = await killPostgres();
  for (let kills = 0; kills < 3; kills += 1) pid = await killWhileStarting(pid);
  await eventually(async () => expect((await call(undefined, 'GET /status')).status).toBe(200), { timeoutMs: 30_000 });
  expect(await standalone.stop()).toBe(0);
}, 90_000);

test('a PostgreSQL that is killed whenever it starts ends the process with a sentence and code 1', async () => {
  let pid = await killPostgres();
  for (let kills = 0; kills < 5; kills += 1) pid = await killWhileStarting(pid);
  expect(await standalone.exited).toBe(1);
  expect(standalone.said).toContainEqual(
    expect.stringMatching(/^standalone stops: PostgreSQL did not start on .*SIGKILL.*\.$/),
  );
}, 90_000);

test('a PostgreSQL that cannot start again ends the process with a sentence and code 1', async () => {
  await rename(join(cluster(), 'global/pg_control'), join(cluster(), 'lost'));
  await killPostgres();
  expect(await standalone.exited).toBe(1);
  expect(standalone.said).toContainEqual(
    expect.stringMatching(
      /^standalone stops: The data directory .* is damaged \(global\/pg_control is missing\): .*\.$/,
    ),
  );
}, 60_000);

test('a stop while PostgreSQL starts again leaves no server behind', async () => {
  const killed = await killPostgres();
  await eventually(async () =>
    expect(await readFile(join(cluster(), 'postmaster.pid'), 'utf8')).not.toMatch(`${killed}`),
  );
  expect(await standalone.stop()).toBe(0);
  // A server that still ran would hold the port of its file and the claim on the directory.
  await using postgres = await startPostgres({ dataDir: join(directory, 'postgres'), fsync: false });
  expect(postgres.pid).not.toBe(killed);
  await expect(readFile(join(cluster(), 'postmaster.pid'), 'utf8')).resolves.toMatch(`${postgres.pid}`);
}, 60_000);
