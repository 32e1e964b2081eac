import { eventually, type TestClock, testClock, withHalfMinuteJob } from '@acsp/testkit';
import { expireTasks } from '../src/task/expire-tasks.js';
import { agent, startTasks, type Tasks } from './harness.js';
import { type Steps, stepsOf, taskIn } from './steps.js';
import { tracesOf } from './traces.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const minuteMs = 60_000;

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

/** A task that Bob holds, or where he and Eve have pending claims, with ten minutes to live. */
async function shortLived(kind: 'claimed' | 'pending') {
  const id = await steps.created(ann, { ttl_minutes: 10, max_claims: kind === 'claimed' ? 1 : 3 });
  await steps.claim(bob, id);
  if (kind === 'pending') await steps.claim(eve, id);
  return id;
}
const rowOf = (id: string) => tasks.context.database.prisma.task.findUniqueOrThrow({ where: { id } });
const sweep = () => expireTasks(tasks.context);

test('a task lives up to its last millisecond', async () => {
  const id = await shortLived('claimed');
  clock.advance(10 * minuteMs - 1);
  expect((await steps.details(bob, id)).body.task.status).toBe('claimed');
  await sweep();
  expect((await steps.update(bob, id, 'start')).status).toBe(200);
});

test.each(['claimed', 'pending'] as const)(
  'every reader sees it at once, before the sweep as after it: %s',
  async (kind) => {
    const id = await shortLived(kind);
    const parent = await steps.created(ann);
    const child = (await steps.create(ann, { parent_id: parent, ttl_minutes: 10 })).body.task.id;
    clock.advance(10 * minuteMs);
    const before = (await steps.details(ann, id)).body;
    expect(before.task).toMatchObject({ status: 'expired', claims_count: 0 });
    expect(before.claims.map(({ status }: { status: string }) => status)).toEqual(before.claims.map(() => 'rejected'));
    expect(before.claims[0].resolved_at).toBe(clock.now().toISOString());
    expect((await steps.details(ann, parent)).body.subtasks).toMatchObject([{ id: child, status: 'expired' }]);
    expect((await rowOf(id)).status).not.toBe('expired');
    await sweep();
    expect((await rowOf(id)).status).toBe('expired');
    const after = (await steps.details(ann, id)).body;
    expect({ ...after, messages: after.messages.slice(0, -1) }).toEqual(before);
  },
);

/** The refusal that each writer gets about a task that has run out, from an agent that could have acted on it a moment ago. */
const refusals = {
  claimed: [
    ['claim again', 409, 'TASK_NOT_OPEN', (id: string) => steps.claim(bob, id)],
    ['claim', 409, 'TASK_NOT_OPEN', (id: string) => steps.claim(eve, id)],
    ['start', 409, 'INVALID_TRANSITION', (id: string) => steps.update(bob, id, 'start')],
    ['unclaim', 409, 'INVALID_TRANSITION', (id: string) => steps.update(bob, id, 'unclaim')],
    ['cancel', 409, 'INVALID_TRANSITION', (id: string) => steps.update(ann, id, 'cancel')],
    ['submit', 409, 'INVALID_STATUS', (id: string) => steps.submit(bob, id)],
    ['give up', 409, 'INVALID_STATUS', (id: string) => steps.submit(bob, id, { failed: true })],
    ['delegate', 409, 'PARENT_CLOSED', (id: string) => steps.delegate(bob, id)],
    ['write', 409, 'TASK_CLOSED', (id: string) => steps.post(bob, id)],
  ],
  pending: [
    ['claim again', 409, 'TASK_NOT_OPEN', (id: string) => steps.claim(bob, id)],
    ['claim', 409, 'TASK_NOT_OPEN', (id: string) => steps.claim(agent('Zoe'), id)],
    ['withdraw', 403, 'PERMISSION_DENIED', (id: string) => steps.update(bob, id, 'unclaim')],
    ['cancel', 409, 'INVALID_TRANSITION', (id: string) => steps.update(ann, id, 'cancel')],
    ['write as claimer', 403, 'PERMISSION_DENIED', (id: string) => steps.post(bob, id)],
    ['write', 409, 'TASK_CLOSED', (id: string) => steps.post(ann, id)],
    ['delegate', 409, 'PARENT_CLOSED', (id: string) => steps.delegate(ann, id)],
    ['accept', 409, 'INVALID_TRANSITION', (id: string) => accept(id)],
  ],
} as const;

async function accept(id: string) {
  const { claims } = (await steps.details(ann, id)).body;
  return steps.resolve(ann, id, claims[0].id, 'accept');
}

test.each(['claimed', 'pending'] as const)(
  'every writer is refused at once, before the sweep as after it: %s',
  async (kind) => {
    const id = await shortLived(kind);
    clock.advance(10 * minuteMs);
    for (const when of ['before', 'after']) {
      const traces = await tracesOf(tasks, id);
      for (const [what, status, code, act] of refusals[kind]) {
        const answer = await act(id);
        expect([when, what, answer.status, answer.body.code]).toEqual([when, what, status, code]);
      }
      expect(await tracesOf(tasks, id)).toEqual(traces);
      await sweep();
    }
  },
);

test('the sweep writes it down once: status, rejected claims, and one trace of each kind', async () => {
  const id = await shortLived('pending');
  clock.advance(11 * minuteMs);
  const before = await tracesOf(tasks, id);
  await Promise.all([sweep(), sweep()]);
  await sweep();
  expect(await rowOf(id)).toMatchObject({ status: 'expired', claims_count: 0, completed_at: null });
  const claims = await tasks.context.database.prisma.claim.findMany({ where: { task_id: id } });
  expect(claims.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const after = await tracesOf(tasks, id);
  const added = { log: after.log.at(-1), event: after.events.at(-1), said: after.said.at(-1) };
  expect(added.log).toMatchObject({
    event: 'task.expired',
    actor_aid: null,
    from_status: 'open',
    to_status: 'expired',
  });
  expect(added.event).toMatchObject({ type: 'task.expired', actor: null });
  expect(added.said).toMatchObject({ content: 'The task has expired', metadata: { event: 'task.expired' } });
  for (const kind of ['log', 'events', 'said'] as const) expect(after[kind]).toHaveLength(before[kind].length + 1);
});

test('the sweep takes any number of tasks', async () => {
  const creator = agent('Ann');
  await tasks.context.database.prisma.$executeRaw`
    INSERT INTO task (id, creator_aid, creator_name, title, description, ttl_minutes, expires_at, created_at)
    SELECT gen_random_uuid(), ${creator.aid}, 'Ann', 'Stone ' || n, 'Count it', 1, ${clock.now()}::timestamptz, ${clock.now()}::timestamptz
    FROM generate_series(1, 450) AS n`;
  await sweep();
  const left = await tasks.context.database.prisma.task.count({ where: { creator_aid: creator.aid, status: 'open' } });
  expect(left).toBe(0);
});

test('the service sweeps by itself, twice a minute', async () => {
  const [service, runSweep] = await withHalfMinuteJob(() => startTasks({ clock, sweeps: true }));
  await using alone = service;
  const id = await stepsOf(alone).created(ann, { ttl_minutes: 1 });
  clock.advance(minuteMs);
  runSweep();
  await eventually(async () => {
    const row = await alone.context.database.prisma.task.findUniqueOrThrow({ where: { id } });
    return row.status === 'expired';
  });
});

test('work that has begun never expires', async () => {
  const fields = { creator: ann, worker: bob, ttl_minutes: 10 };
  const [working, waiting] = [await taskIn(steps, 'in_progress', fields), await taskIn(steps, 'review', fields)];
  clock.advance(30 * 24 * 60 * minuteMs);
  await sweep();
  expect((await steps.submit(bob, working)).body.status).toBe('review');
  expect((await steps.update(ann, waiting, 'approve')).body.status).toBe('done');
});
