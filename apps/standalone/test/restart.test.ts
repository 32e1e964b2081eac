import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedBus, payloadOf } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { startPostgres } from '@acsp/local';
import type { PublicOf } from '@acsp/operation';
import { createLogger, createStack } from '@acsp/service';
import { eventually } from '@acsp/testkit';
import pg from 'pg';
import { createCaller, type TestAgent } from './harness.js';
import { detailsFor, expectKept } from './restart/expect-kept.js';
import { startLoad } from './restart/load.js';
import { type StandaloneProcess, startProcess } from './restart/standalone-process.js';

let directory: string;
let standalone: StandaloneProcess | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'acsp-restart-'));
  // PostgreSQL runs as another user where the tests run as root.
  await chmod(directory, 0o755);
});
afterAll(async () => {
  await standalone?.kill();
  // Ends the PostgreSQL that a killed standalone leaves behind.
  await (await postgres())[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const postgres = () => startPostgres({ dataDir: join(directory, 'postgres') });

test('killed under load and started again, the service has kept every promise and tells of each once', async () => {
  standalone = await startProcess(directory);
  const { call, quickstart } = createCaller(standalone.url);
  const [creators, workers] = [await agents(quickstart, 3), await agents(quickstart, 6)];
  const leaver = await quickstart('Leaver');
  const left = await call(leaver, 'POST /tasks', { title: 'Left behind', description: 'By an agent that goes away' });

  const { promised, ended } = await startLoad(standalone.url, creators, workers);
  await eventually(() => promised.posted.size >= 50, { timeoutMs: 60_000 });
  const gone = await call(leaver, 'POST /account-delete', { aid: leaver.aid, confirm: true });
  await standalone.kill();
  await ended;
  expect(gone.status).toBe(200);

  standalone = await startProcess(directory);
  const [reader] = creators as [TestAgent];
  const details = detailsFor(standalone.url, reader);
  await expectKept(promised, details);
  await eventually(async () => expect((await details(left.body.task.id)).task.status).toBe('cancelled'));
  expect(await standalone.stop()).toBe(0);

  const { events, unpublished, dead } = await told();
  expect({ unpublished, dead }).toEqual({ unpublished: 0, dead: 0 });
  const ids = events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const toldOf = (type: string, key: (payload: PublicOf<typeof TaskEventSchema>) => string | null) =>
    events.filter((event) => event.type === type).map((event) => key(payloadOf(TaskEventSchema, event)));
  for (const id of promised.created.keys())
    expect(toldOf('task.created', ({ task_id }) => task_id).filter((told) => told === id)).toHaveLength(1);
  for (const id of promised.claimed.keys())
    expect(toldOf('task.claimed', ({ task_id }) => task_id).filter((told) => told === id)).toHaveLength(1);
  for (const id of promised.posted.keys())
    expect(toldOf('task.message_posted', ({ message_id }) => message_id).filter((told) => told === id)).toHaveLength(1);
}, 180_000);

async function agents(make: (name: string) => Promise<TestAgent>, count: number): Promise<TestAgent[]> {
  const made: TestAgent[] = [];
  for (let i = 0; i < count; i += 1) made.push(await make(`Agent ${i}`));
  return made;
}

/** Everything that a new consumer hears, and what nobody will hear. */
async function told(): Promise<{ events: Event[]; unpublished: number; dead: number }> {
  const stack = createStack();
  try {
    const server = stack.use(await postgres());
    const count = async (database: string, query: string) => {
      const client = new pg.Client({ connectionString: server.url(database) });
      await client.connect();
      const { rows } = await client.query<{ count: number }>(query).finally(() => client.end());
      return rows[0]?.count ?? 0;
    };
    const waiting = 'SELECT count(*)::int FROM bus.outbox WHERE published_at IS NULL';
    const published = await count('bus', 'SELECT count(*)::int FROM bus.messages');
    const bus = stack.use(
      embeddedBus({ databaseUrl: server.url('bus'), log: createLogger({ name: 'audit', level: 'silent' }) }),
    );
    const events: Event[] = [];
    const audit = { name: 'audit', subjects: ['acsp.>'], start: 'kept', exclusive: true } as const;
    const ending = new AbortController();
    const following = bus.follow(audit, async ({ event }) => void events.push(event), ending.signal);
    await eventually(() => events.length >= published, { timeoutMs: 20_000 });
    ending.abort();
    await following;
    return {
      events,
      unpublished: (await count('tasks', waiting)) + (await count('identity', waiting)),
      dead: await count('tasks', 'SELECT count(*)::int FROM bus.failed_event'),
    };
  } finally {
    await stack[Symbol.asyncDispose]();
  }
}
