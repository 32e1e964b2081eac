import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { createPeer } from '@acsp/service';
import { eventually, type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { type Door, doorTo } from './door-to.js';
import { type Answer, agent, startTasks, stranger, type Tasks } from './harness.js';
import { type Steps, stepsOf } from './steps.js';

let database: TestDatabase;
let door: Door;
let tasks: Tasks;
let steps: Steps;
const [ann, bob] = [agent('Ann'), agent('Bob')];
const patience = { timeoutMs: 20_000, intervalMs: 100 };

beforeAll(async () => {
  database = await testDatabase();
  door = await doorTo(database.url);
  await door.shut();
  tasks = await startTasks({ databaseUrl: door.url, migrated: false });
  steps = stepsOf(tasks);
});
afterAll(async () => {
  await tasks[Symbol.asyncDispose]();
  await door[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** 503 with everything that a caller needs to try again, and soon enough that it has not gone away. */
async function expectUnavailable(request: () => Promise<Answer>) {
  const started = Date.now();
  const { status, headers, body } = await request();
  expect([status, body.code, headers.get('retry-after'), body.retry_after_seconds]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '1',
    1,
  ]);
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.stringify(body)).not.toMatch(/ECONN|127\.0\.0\.1|postgres|prisma/i);
  expect(Date.now() - started).toBeLessThan(6_000);
}

const works = () => eventually(async () => (await steps.list(ann)).status === 200, patience);

test('comes up without its database, answers 503, and makes its tables once the database is there', async () => {
  await expectUnavailable(() => steps.list(ann));
  expect((await tasks.health.ready()).ready).toBe(false);
  await door.open();
  await works();
  await eventually(async () => (await tasks.health.ready()).ready, patience);
});

test('answers every operation 503 while the database refuses connections, and goes on afterwards', async () => {
  const id = await steps.created(ann);
  await door.shut();
  await expectUnavailable(() => steps.create(ann));
  await expectUnavailable(() => steps.list(ann));
  await expectUnavailable(() => steps.details(ann, id));
  await expectUnavailable(() => steps.claim(bob, id));
  await expectUnavailable(() => steps.resolve(ann, id, id, 'accept'));
  await expectUnavailable(() => steps.update(ann, id, 'cancel'));
  await expectUnavailable(() => steps.submit(bob, id));
  await expectUnavailable(() => steps.delegate(ann, id));
  await expectUnavailable(() => steps.post(ann, id));
  using client = createPeer(TasksService, { address: tasks.address, principals: tasks.principals, name: 'worker' });
  await expect(client.getTask({ id }, { caller: ann })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds: 1,
  });
  await expect(tasks.health.ready()).resolves.toMatchObject({ ready: false });
  await door.open();
  await works();
  expect((await steps.claim(bob, id)).body.task_status).toBe('claimed');
  await eventually(async () => (await tasks.health.ready()).ready, patience);
});

test('publishes again after the database was away', async () => {
  await door.shut();
  await door.open();
  await works();
  const id = await steps.created(ann);
  await eventually(async () => {
    const [row] = await tasks.context.database.prisma.$queryRaw<{ published: boolean }[]>`
      SELECT published_at IS NOT NULL AS published FROM bus.outbox WHERE payload->>'task_id' = ${id}`;
    return row?.published === true;
  }, patience);
});

test('answers 503 while the database takes connections and says nothing', async () => {
  const id = await steps.created(ann);
  await door.stall();
  await Promise.all([expectUnavailable(() => steps.details(ann, id)), expectUnavailable(() => steps.claim(bob, id))]);
  await door.open();
  await works();
});

test('requests whose connections are ended by the administrator are done or answered 503, and the next ones work', async () => {
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const requests = Array.from({ length: 30 }, () => steps.create(ann));
  for (let round = 0; round < 3; round += 1) {
    await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  }
  await admin.end();
  const answers = await Promise.all(requests);
  expect(answers.filter(({ status }) => status !== 201 && status !== 503)).toEqual([]);
  await works();
  const created = answers.filter(({ status }) => status === 201);
  for (const { body } of created) expect((await steps.details(ann, body.task.id)).status).toBe(200);
});

test('without identity only a task with a target is answered 503', async () => {
  await using alone = await startTasks({ identityAddress: '127.0.0.1:9' });
  await expectUnavailable(() => stepsOf(alone).create(ann, { target_aid: stranger.aid }));
  expect((await stepsOf(alone).create(ann)).status).toBe(201);
});
