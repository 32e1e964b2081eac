import { deletionOf, eventually, type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { type Steps, statuses, stepsOf, taskIn } from './steps.js';
import { tracesOf } from './traces.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
  // Events from before the consumer's first start are none of its business: announce until one is seen.
  const probe = agent('Probe');
  const id = await steps.created(probe);
  await eventually(async () => {
    await tasks.bus.publish('identity', [deletionOf(probe)]);
    return (await taskOf(id)).status === 'cancelled';
  });
});
afterAll(() => tasks[Symbol.asyncDispose]());

/** Publishes that the agents are gone and waits until the service has dealt with it: it takes events in order, and a last one is easy to see. */
async function remove(...agents: (typeof ann)[]) {
  const last = agent('Last');
  const id = await steps.created(last);
  await tasks.bus.publish(
    'identity',
    [...agents, last].map((who) => deletionOf(who)),
  );
  await eventually(async () => (await taskOf(id)).status === 'cancelled');
}

const detailsOf = async (id: string) => (await steps.details(ann, id)).body;
const taskOf = async (id: string) => (await detailsOf(id)).task;
const claimsOf = async (id: string) => (await detailsOf(id)).claims.map(({ status }: { status: string }) => status);

test('what the agent created and is not over is cancelled, and the rest stays as it was', async () => {
  const gone = agent('Gone');
  const made = new Map<string, string>();
  for (const status of statuses) made.set(status, await taskIn(steps, status, { creator: gone, worker: bob }));
  const before = new Map<string, object>();
  for (const id of made.values()) before.set(id, await detailsOf(id));
  await remove(gone);
  for (const [status, id] of made) {
    const { task, claims, messages } = await detailsOf(id);
    if (['done', 'failed', 'cancelled'].includes(status)) {
      expect({ task, claims, subtasks: [], messages }).toEqual(before.get(id));
      continue;
    }
    const worked = status !== 'open';
    expect(task).toMatchObject({
      status: 'cancelled',
      assigned_aid: worked ? bob.aid : null,
      claims_count: worked ? 1 : 0,
    });
    expect(claims).toMatchObject(worked ? [{ status: 'accepted' }] : []);
    expect(messages.at(-1).content).toBe('The task was cancelled: its creator has left');
  }
});

test('pending claims on its tasks are rejected, and their agents are told', async () => {
  const gone = agent('Gone');
  const id = await steps.created(gone, { max_claims: 3 });
  for (const who of [bob, eve]) await steps.claim(who, id);
  await remove(gone);
  expect(await taskOf(id)).toMatchObject({ status: 'cancelled', claims_count: 0 });
  expect(await claimsOf(id)).toEqual(['rejected', 'rejected']);
  const { events, log } = await tracesOf(tasks, id);
  expect(log.at(-1)).toMatchObject({
    event: 'task.cancelled',
    actor_aid: null,
    from_status: 'open',
    to_status: 'cancelled',
  });
  expect(events.at(-1)).toMatchObject({ type: 'task.cancelled', actor: null });
  expect([...(events.at(-1)?.audience ?? [])].sort()).toEqual([gone, bob, eve].map(({ aid }) => `agent:${aid}`).sort());
});

test('its pending claims are withdrawn, the others stay', async () => {
  const gone = agent('Gone');
  const id = await steps.created(ann, { max_claims: 3 });
  for (const who of [gone, bob]) await steps.claim(who, id);
  await remove(gone);
  expect(await taskOf(id)).toMatchObject({ status: 'open', claims_count: 1, assigned_aid: null });
  expect(await claimsOf(id)).toEqual(['withdrawn', 'pending']);
});

test.each(['claimed', 'in_progress'] as const)(
  'a task of someone else that it had %s is open for anybody again',
  async (status) => {
    const gone = agent('Gone');
    const id = await taskIn(steps, status, { creator: ann, worker: gone });
    const { expires_at } = await taskOf(id);
    await remove(gone);
    const nobody = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null, claims_count: 0 };
    expect(await taskOf(id)).toMatchObject({ status: 'open', expires_at, ...nobody });
    expect(await claimsOf(id)).toEqual(['withdrawn']);
    const { events, log } = await tracesOf(tasks, id);
    const [claim] = (await detailsOf(id)).claims;
    const last = { event: 'task.claim_withdrawn', from_status: status, to_status: 'open', claim_id: claim.id };
    expect(log.at(-1)).toMatchObject({ ...last, actor_aid: null });
    expect(events.at(-1)).toMatchObject({
      type: 'task.claim_withdrawn',
      payload: { claim_id: claim.id, creator_aid: ann.aid },
    });
    expect([...(events.at(-1)?.audience ?? [])].sort()).toEqual([ann, gone].map(({ aid }) => `agent:${aid}`).sort());
    expect((await steps.claim(bob, id)).status).toBe(200);
  },
);

test('work that goes on past expires_at is open for its ttl again', async () => {
  const gone = agent('Gone');
  const id = await taskIn(steps, 'in_progress', { creator: ann, worker: gone, ttl_minutes: 10 });
  clock.advance(10 * 60_000);
  await remove(gone);
  const expires_at = new Date(clock.now().getTime() + 10 * 60_000).toISOString();
  expect(await taskOf(id)).toMatchObject({ status: 'open', expires_at });
});

test('a result under review stays, and can still be approved', async () => {
  const gone = agent('Gone');
  const id = await taskIn(steps, 'review', { creator: ann, worker: gone });
  const before = await detailsOf(id);
  await remove(gone);
  expect(await detailsOf(id)).toEqual(before);
  expect((await steps.update(ann, id, 'approve')).body.status).toBe('done');
});

test('what has run out stays expired, also before the sweep', async () => {
  const gone = agent('Gone');
  const [own, held] = [
    await steps.created(gone, { ttl_minutes: 10 }),
    await taskIn(steps, 'claimed', { creator: ann, worker: gone, ttl_minutes: 10 }),
  ];
  clock.advance(10 * 60_000);
  const before = [await detailsOf(own), await detailsOf(held)];
  await remove(gone);
  expect([await detailsOf(own), await detailsOf(held)]).toEqual(before);
});

test('a repeated event does nothing', async () => {
  const gone = agent('Gone');
  const ids = [
    await taskIn(steps, 'in_progress', { creator: gone, worker: bob }),
    await taskIn(steps, 'claimed', { creator: ann, worker: gone }),
  ];
  await remove(gone);
  const look = () => Promise.all(ids.map(async (id) => [await detailsOf(id), await tracesOf(tasks, id)]));
  const before = await look();
  await remove(gone, gone);
  expect(await look()).toEqual(before);
});

test('takes any number of tasks and claims, and leaves one event for each', async () => {
  const gone = agent('Gone');
  const { prisma } = tasks.context.database;
  for (const creator of [gone.aid, ann.aid]) {
    await prisma.$executeRaw`
      INSERT INTO task (id, creator_aid, creator_name, title, description, ttl_minutes, expires_at, created_at, max_claims, claims_count)
      SELECT gen_random_uuid(), ${creator}, 'Maker', 'Many', 'Of them', 1, ${clock.now()}::timestamptz + interval '1 day', ${clock.now()}::timestamptz, 2, 1
      FROM generate_series(1, 410)`;
  }
  await prisma.$executeRaw`
    INSERT INTO claim (id, task_id, agent_aid, agent_name, status, created_at)
    SELECT gen_random_uuid(), id, CASE creator_aid WHEN ${gone.aid} THEN ${bob.aid} ELSE ${gone.aid} END, 'Claimer', 'pending', created_at
    FROM task WHERE title = 'Many'`;
  await remove(gone);
  const left = await prisma.$queryRaw`
    SELECT task.status::text, claim.status::text AS claim, claims_count, count(*)::int FROM task JOIN claim ON claim.task_id = task.id
    WHERE title = 'Many' GROUP BY 1, 2, 3 ORDER BY 1`;
  expect(left).toEqual([
    { status: 'cancelled', claim: 'rejected', claims_count: 0, count: 410 },
    { status: 'open', claim: 'withdrawn', claims_count: 0, count: 410 },
  ]);
  const events = await prisma.$queryRaw`
    SELECT type, count(*)::int, count(DISTINCT payload->>'task_id')::int AS tasks FROM bus.outbox
    WHERE payload->>'title' = 'Many' GROUP BY type ORDER BY type`;
  expect(events).toEqual([
    { type: 'task.cancelled', count: 410, tasks: 410 },
    { type: 'task.claim_withdrawn', count: 410, tasks: 410 },
  ]);
});
