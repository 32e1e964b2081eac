import { type TestClock, testClock } from '@acsp/testkit';
import { expireTasks } from '../src/task/expire-tasks.js';
import { type Answer, agent, startTasks, type Tasks } from './harness.js';
import { type Steps, type statuses, stepsOf, taskIn } from './steps.js';
import { feedsOf, payloadOf, watchTraces } from './trace-check.js';
import { tracesOf } from './traces.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
let traces: Awaited<ReturnType<typeof watchTraces>>;
const [ann, bob, eve, zoe] = [agent('Ann'), agent('Bob'), agent('Eve'), agent('Zoe')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
  traces = await watchTraces(tasks, clock);
});
afterAll(async () => {
  await traces[Symbol.asyncDispose]();
  await tasks[Symbol.asyncDispose]();
});

const bring = (status: (typeof statuses)[number]) => taskIn(steps, status, { creator: ann, worker: bob });
const claimId = ({ body }: Answer): string => body.claim.id;

/** A task with pending claims of Bob and Eve, and the id of the first. */
async function pending() {
  const id = await steps.created(ann, { max_claims: 4 });
  const [first] = [await steps.claim(bob, id), await steps.claim(eve, id)].map(claimId);
  return [id, first as string] as const;
}

test.each([
  ['the creator', []],
  ['the target too', [zoe]],
])('creating a task tells %s', async (_whom, targets) => {
  const id = await steps.created(ann, { target_aid: targets[0]?.aid });
  const { events, log, said } = await tracesOf(tasks, id);
  expect([events.length, log.length, said.length]).toEqual([1, 1, 1]);
  const event = await traces.latest(id);
  expect(event).toMatchObject({ type: 'task.created', actor: ann.aid });
  expect([...event.audience].sort()).toEqual(feedsOf([ann, ...targets]));
  expect(payloadOf(event)).toMatchObject({ status: 'open', previousStatus: '', messageId: said[0]?.id });
  expect(log).toMatchObject([{ event: 'task.created', actor_aid: ann.aid, from_status: null, to_status: 'open' }]);
  expect(said).toMatchObject([{ content: 'Ann created the task', metadata: { event: 'task.created' } }]);
});

test('delegating tells of the subtask and says nothing of the parent', async () => {
  const parent = await steps.created(ann);
  const before = await tracesOf(tasks, parent);
  const child = (await steps.delegate(ann, parent, { target_aid: bob.aid })).body.task.id;
  expect(await traces.latest(child)).toMatchObject({ type: 'task.created', actor: ann.aid });
  expect(await tracesOf(tasks, parent)).toEqual(before);
});

test('a claim that is accepted at once tells creator and claimer', async () => {
  const id = await steps.created(ann);
  const claimed = { type: 'task.claimed', audience: [ann, bob], previousStatus: 'open', claimId };
  const words = { says: 'Bob claimed the task', note: 'Mine' };
  await traces.expectOne(id, () => steps.claim(bob, id, { message: 'Mine' }), { ...claimed, ...words });
});

test('a pending claim tells the other claimers as well', async () => {
  const [id] = await pending();
  const expected = {
    type: 'task.claim_pending',
    audience: [ann, bob, eve, zoe],
    claimId,
    says: 'Zoe claimed the task',
  };
  await traces.expectOne(id, () => steps.claim(zoe, id), expected);
});

test('accepting a claim tells all who had one', async () => {
  const [id, first] = await pending();
  await traces.expectOne(id, () => steps.resolve(ann, id, first, 'accept'), {
    type: 'task.claimed',
    audience: [ann, bob, eve],
    previousStatus: 'open',
    claimId: first,
    says: 'Ann accepted the claim of Bob',
  });
});

test('rejecting a claim tells its agent', async () => {
  const [id, first] = await pending();
  await traces.expectOne(id, () => steps.resolve(ann, id, first, 'reject'), {
    type: 'task.claim_rejected',
    audience: [ann, bob, eve],
    claimId: first,
    says: 'Ann rejected the claim of Bob',
  });
});

test('withdrawing a claim tells its agent and the creator', async () => {
  const [id, first] = await pending();
  await traces.expectOne(id, () => steps.update(bob, id, 'unclaim', 'Busy'), {
    type: 'task.claim_withdrawn',
    audience: [ann, bob, eve],
    claimId: first,
    says: 'Bob withdrew its claim: Busy',
    note: 'Busy',
  });
});

test.each([
  ['start', 'claimed', bob, { type: 'task.started', says: 'Bob started the task: Now' }],
  ['unclaim', 'claimed', bob, { type: 'task.unclaimed', says: 'Bob gave the task back: Now' }],
  ['cancel', 'claimed', ann, { type: 'task.cancelled', says: 'Ann cancelled the task: Now' }],
  ['approve', 'review', ann, { type: 'task.approved', says: 'Ann approved the result: Now' }],
  ['reject', 'review', ann, { type: 'task.rejected', says: 'Ann rejected the result: Now' }],
] as const)('%s tells the creator and the assigned agent, a former one too', async (action, from, who, told) => {
  const id = await bring(from);
  const [claim] = (await steps.details(ann, id)).body.claims;
  const claimId = action === 'unclaim' || action === 'reject' ? (claim.id as string) : undefined;
  const expected = { ...told, audience: [ann, bob], previousStatus: from, note: 'Now', ...(claimId && { claimId }) };
  await traces.expectOne(id, () => steps.update(who, id, action, 'Now'), expected);
});

test('cancelling tells those with pending claims', async () => {
  const [id] = await pending();
  await traces.expectOne(id, () => steps.update(ann, id, 'cancel'), {
    type: 'task.cancelled',
    audience: [ann, bob, eve],
    previousStatus: 'open',
    says: 'Ann cancelled the task',
  });
});

test('submitting a result tells the creator', async () => {
  const id = await bring('in_progress');
  await traces.expectOne(id, () => steps.submit(bob, id), {
    type: 'task.submitted',
    audience: [ann, bob],
    previousStatus: 'in_progress',
    says: 'Bob submitted a result',
  });
});

test('submitting a failure tells the creator why', async () => {
  const id = await bring('claimed');
  await traces.expectOne(id, () => steps.submit(bob, id, { failed: true, failure_reason: 'Rain' }), {
    type: 'task.failed',
    audience: [ann, bob],
    previousStatus: 'claimed',
    says: 'Bob gave up: Rain',
    note: 'Rain',
  });
});

test('a message tells all who take part, and is no entry of the log', async () => {
  const [id] = await pending();
  const expected = { type: 'task.message_posted', audience: [ann, bob, eve] };
  await traces.expectOne(id, () => steps.post(bob, id), expected);
});

test('expiry tells creator and claimers, and nobody is its actor', async () => {
  const [id] = await pending();
  clock.advance(1440 * 60_000);
  await traces.expectOne(id, () => expireTasks(tasks.context), {
    type: 'task.expired',
    audience: [ann, bob, eve],
    previousStatus: 'open',
    says: 'The task has expired',
  });
  expect((await traces.latest(id)).actor).toBeUndefined();
});

test('what is refused leaves nothing', async () => {
  const id = await bring('claimed');
  const look = async () => [await tracesOf(tasks, id), await tasks.context.database.prisma.message.count()];
  const before = await look();
  await steps.claim(eve, id);
  await steps.update(eve, id, 'start');
  await steps.update(ann, id, 'approve');
  await steps.submit(eve, id);
  await steps.delegate(eve, id);
  await steps.post(eve, id);
  await steps.resolve(ann, id, id, 'accept');
  expect(await look()).toEqual(before);
});
