import { eventually, type TestClock, testClock } from '@acsp/testkit';
import pg from 'pg';
import { expireTasks } from '../src/task/expire-tasks.js';
import { type Answer, agent, startTasks, type Tasks } from './harness.js';
import { allAtOnce, holdTask } from './hold-task.js';
import { type Steps, stepsOf, taskIn } from './steps.js';
import { tracesOf } from './traces.js';

// A task's row is locked by somebody else: an administrator, a migration, another replica that stands still.

let clock: TestClock;
let tasks: Tasks;
let other: Tasks;
let steps: Steps;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  other = await startTasks({ clock, databaseUrl: tasks.databaseUrl });
  steps = stepsOf(tasks);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await tasks[Symbol.asyncDispose]();
});

const statusOf = ({ status }: Answer) => status;

describe('R26: a result that comes in behind its own claim', () => {
  test('waits for it in one service', async () => {
    const id = await steps.created(ann);
    const both = [() => steps.claim(bob, id), () => steps.submit(bob, id)];
    expect((await allAtOnce([tasks], id, both)).map(statusOf)).toEqual([200, 200]);
    expect((await steps.details(ann, id)).body.task.status).toBe('review');
  });

  test('is taken or refused in another one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await steps.created(ann);
      const both = [() => steps.claim(bob, id), () => stepsOf(other).submit(bob, id)];
      const [claimed, submitted] = await allAtOnce([tasks, other], id, both);
      expect(claimed?.status).toBe(200);
      if (submitted?.status !== 200) expect(submitted).toMatchObject({ status: 403, body: { code: 'NOT_ASSIGNED' } });
    }
  });

  test('waits for the creator who accepts it', async () => {
    const id = await steps.created(ann, { max_claims: 3 });
    const { claim } = (await steps.claim(bob, id)).body;
    const both = [() => steps.resolve(ann, id, claim.id, 'accept'), () => steps.submit(bob, id)];
    expect((await allAtOnce([tasks], id, both)).map(statusOf)).toEqual([200, 200]);
  });
});

test('one locked row keeps none of its neighbours waiting', async () => {
  const ids = await Promise.all(Array.from({ length: 21 }, () => steps.created(ann)));
  const [locked = '', ...free] = ids;
  const held = await holdTask(tasks, locked);
  const waiting = steps.claim(bob, locked);
  const started = Date.now();
  const answers = await Promise.all(free.map((id) => steps.claim(bob, id)));
  expect(new Set(answers.map(statusOf))).toEqual(new Set([200]));
  expect(Date.now() - started).toBeLessThan(1_000);
  await held[Symbol.asyncDispose]();
  expect(await waiting).toMatchObject({ status: 200, body: { task_status: 'claimed' } });
});

test('nothing is written once its caller was told 503', async () => {
  const id = await taskIn(steps, 'claimed', { creator: ann, worker: bob });
  const look = async () => [(await steps.details(ann, id)).body, await tracesOf(tasks, id)];
  const before = await look();
  const held = await holdTask(tasks, id);
  const started = Date.now();
  const answers = await Promise.all([
    steps.update(bob, id, 'start'),
    stepsOf(other).update(ann, id, 'cancel'),
    steps.submit(bob, id),
    steps.delegate(ann, id),
    steps.post(bob, id),
  ]);
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
    answers.map(() => [503, 'SERVICE_UNAVAILABLE']),
  );
  expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(answers.map(() => '1'));
  expect(Date.now() - started).toBeLessThan(6_000);
  await held[Symbol.asyncDispose]();
  // Whatever still waited for the row would come before this change of it.
  expect((await steps.claim(eve, id)).body.code).toBe('TASK_NOT_OPEN');
  expect(await look()).toEqual(before);
  expect((await steps.update(bob, id, 'start')).status).toBe(200);
});

test('a change is tried no longer once its caller has gone', async () => {
  const id = await steps.created(ann);
  const { turns } = tasks.context;
  await using _held = await holdTask(tasks, id);
  const gone = new AbortController();
  const request = tasks.send(bob, 'POST /tasks/claim', { body: { task_id: id }, signal: gone.signal });
  await eventually(() => turns.has(id));
  gone.abort();
  await expect(request).rejects.toThrow();
  await eventually(() => !turns.has(id), { timeoutMs: 2_000 });
});

test('what waits while the task is cancelled is refused, although it was allowed when it came in', async () => {
  const id = await steps.created(ann);
  const admin = new pg.Client({ connectionString: tasks.databaseUrl });
  await admin.connect();
  await admin.query('BEGIN');
  // Reads pass, writes wait.
  await admin.query('LOCK TABLE task IN EXCLUSIVE MODE');
  const sent = [steps.post(ann, id), steps.delegate(ann, id), steps.claim(bob, id)];
  const { pool } = tasks.context.database;
  await eventually(async () => {
    const { rows } = await pool.query(`SELECT FROM pg_locks WHERE NOT granted AND relation = 'task'::regclass`);
    return rows.length === sent.length;
  });
  await admin.query(`UPDATE task SET status = 'cancelled', version = version + 1 WHERE id = $1`, [id]);
  await admin.query('COMMIT');
  await admin.end();
  const codes = (await Promise.all(sent)).map(({ body }) => body.code);
  expect(codes).toEqual(['TASK_CLOSED', 'PARENT_CLOSED', 'TASK_NOT_OPEN']);
  const { task, messages, claims } = (await steps.details(ann, id)).body;
  expect([task.subtasks_count, messages.length, claims]).toEqual([0, 1, []]);
});

test('the sweep expires all others, and the locked one the next time', async () => {
  const { prisma } = tasks.context.database;
  await prisma.$executeRaw`
    INSERT INTO task (id, creator_aid, creator_name, title, description, ttl_minutes, expires_at, created_at)
    SELECT gen_random_uuid(), ${eve.aid}, 'Eve', 'Stone', 'Count it', 1, ${clock.now()}::timestamptz, ${clock.now()}::timestamptz
    FROM generate_series(1, 450)`;
  const left = () => prisma.task.findMany({ where: { creator_aid: eve.aid, status: 'open' }, orderBy: { id: 'asc' } });
  const [locked] = await left();
  const held = await holdTask(tasks, locked?.id as string);
  await expect(expireTasks(tasks.context)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await left()).toEqual([locked]);
  await held[Symbol.asyncDispose]();
  await expireTasks(tasks.context);
  expect(await left()).toEqual([]);
});
