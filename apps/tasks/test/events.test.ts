import type { Event } from '@acsp/contracts/events/v1/event';
import { type TaskEvent, TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { eventually, type TestClock, testClock } from '@acsp/testkit';
import { type MessageInitShape, create as message, toJson } from '@bufbuild/protobuf';
import { anyUnpack, timestampDate } from '@bufbuild/protobuf/wkt';
import { expireTasks } from '../src/task/expire-tasks.js';
import { type Answer, agent, startTasks, type Tasks } from './harness.js';
import { type Steps, stepsOf, taskIn } from './steps.js';
import { tracesOf } from './traces.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
let watching: AsyncDisposable;
const published: Event[] = [];
const [ann, bob, eve, zoe] = [agent('Ann'), agent('Bob'), agent('Eve'), agent('Zoe')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
  let live = false;
  watching = await tasks.context.bus.watch({
    subjects: ['acsp.tasks.>'],
    handle: (event) => void published.push(event),
    onLive: (now) => {
      live = now;
    },
  });
  await eventually(() => live);
});
afterAll(async () => {
  await watching[Symbol.asyncDispose]();
  await tasks[Symbol.asyncDispose]();
});

const payloadOf = (event: Event) => event.payload && anyUnpack(event.payload, TaskEventSchema);
const onBus = (taskId: string) => published.filter((event) => payloadOf(event)?.taskId === taskId);

interface Expected extends MessageInitShape<typeof TaskEventSchema> {
  readonly type: string;
  readonly audience: readonly (typeof ann)[];
  readonly note?: string;
  /** Of the system message; absent where the event comes with an agent's own message. */
  readonly says?: string;
}

/** Makes one change of a task and compares all that it left behind: on the bus, in the log and in the thread. */
async function expectOne(id: string, act: () => Promise<Answer | void>, expected: (answer: Answer) => Expected) {
  const before = await tracesOf(tasks, id);
  const answer = (await act()) as Answer;
  const { type, audience, note = null, says, ...fields } = expected(answer);
  const after = await tracesOf(tasks, id);
  const added = { events: after.events.slice(before.events.length), log: after.log.slice(before.log.length) };
  const said = after.said.slice(before.said.length);
  expect(added.events).toHaveLength(1);
  const event = await onlyOne(id, after.events.length);

  const actorAid = event.actor;
  const { task } = (await steps.details(ann, id)).body;
  const { status, assigned_aid, target_aid } = task;
  const base = { taskId: id, title: task.title, creatorAid: ann.aid, previousStatus: status, status };
  const row = { assignedAid: assigned_aid ?? undefined, targetAid: target_aid ?? undefined, actorAid };
  const messageId = says === undefined ? answer.body.id : said[0]?.id;
  expect(event).toMatchObject({ id: added.events[0]?.id, type });
  expect(event.occurredAt && timestampDate(event.occurredAt)).toEqual(clock.now());
  expect([...event.audience].sort()).toEqual(audience.map(({ aid }) => `agent:${aid}`).sort());
  expect(json(payloadOf(event) as TaskEvent)).toEqual(json({ ...base, ...row, messageId, ...fields }));
  if (says === undefined) {
    expect([added.log, said]).toEqual([[], []]);
    return;
  }
  const previous = type === 'task.created' ? null : (fields.previousStatus ?? status);
  const entry = { event: type, actor_aid: actorAid ?? null, from_status: previous, to_status: status, note };
  expect(added.log).toMatchObject([{ ...entry, claim_id: fields.claimId ?? null, created_at: clock.now() }]);
  expect(said).toMatchObject([{ content: says, sender_aid: null, sender_name: 'acsp', created_at: clock.now() }]);
  const metadata = { event: type, actor_aid: actorAid, ...(note !== null && { comment: note }) };
  expect(said[0]?.metadata).toEqual(JSON.parse(JSON.stringify(metadata)));
}

const json = (payload: MessageInitShape<typeof TaskEventSchema>) =>
  toJson(TaskEventSchema, message(TaskEventSchema, payload));

/** The latest event of a task on the bus, once as many have arrived as were written; every one of them once and in order. */
async function onlyOne(id: string, written: number): Promise<Event> {
  await eventually(() => onBus(id).length >= written);
  const { events } = await tracesOf(tasks, id);
  expect(onBus(id).map((event) => event.id)).toEqual(events.map((event) => event.id));
  return onBus(id).at(-1) as Event;
}

/** A new task and, as the only trace of it, the event of its creation. */
const created = async (fields: object = {}) => (await steps.create(ann, fields)).body.task.id as string;
const several = async () => {
  const id = await created({ max_claims: 4 });
  const claims: string[] = [];
  for (const who of [bob, eve]) claims.push((await steps.claim(who, id)).body.claim.id);
  return { id, first: claims[0] as string };
};
const bring = (status: Parameters<typeof taskIn>[1]) => taskIn(steps, status, { creator: ann, worker: bob });

test('create tells the creator, and the target where there is one', async () => {
  for (const target of [undefined, zoe]) {
    const id = await created({ target_aid: target?.aid });
    const { events, log, said } = await tracesOf(tasks, id);
    expect([events.length, log.length, said.length]).toEqual([1, 1, 1]);
    const event = await onlyOne(id, 1);
    expect(event).toMatchObject({ type: 'task.created', actor: ann.aid });
    expect([...event.audience].sort()).toEqual([ann, ...(target ? [target] : [])].map(({ aid }) => `agent:${aid}`).sort());
    expect(payloadOf(event)).toMatchObject({ status: 'open', previousStatus: '', creatorAid: ann.aid, messageId: said[0]?.id });
    expect(log).toMatchObject([{ event: 'task.created', actor_aid: ann.aid, from_status: null, to_status: 'open' }]);
    expect(said).toMatchObject([{ content: 'Ann created the task', metadata: { event: 'task.created' } }]);
  }
});

test('delegate tells of the subtask and says nothing of the parent', async () => {
  const parent = await created();
  const before = await tracesOf(tasks, parent);
  const child = (await steps.delegate(ann, parent, { target_aid: bob.aid })).body.task.id;
  const event = await onlyOne(child, 1);
  expect(event).toMatchObject({ type: 'task.created', actor: ann.aid });
  expect(await tracesOf(tasks, parent)).toEqual(before);
});

test('claim tells creator and claimer', async () => {
  const id = await created();
  await expectOne(id, () => steps.claim(bob, id, { message: 'Mine' }), ({ body }) => ({
    ...{ type: 'task.claimed', audience: [ann, bob], previousStatus: 'open', claimId: body.claim.id },
    ...{ says: 'Bob claimed the task', note: 'Mine' },
  }));
});

test('a pending claim tells the other claimers as well', async () => {
  const { id } = await several();
  await expectOne(id, () => steps.claim(zoe, id), ({ body }) => ({
    ...{ type: 'task.claim_pending', audience: [ann, bob, eve, zoe], claimId: body.claim.id, says: 'Zoe claimed the task' },
  }));
});

test('accepting a claim tells all who had one', async () => {
  const { id, first } = await several();
  await expectOne(id, () => steps.resolve(ann, id, first, 'accept'), () => ({
    ...{ type: 'task.claimed', audience: [ann, bob, eve], previousStatus: 'open', claimId: first },
    says: 'Ann accepted the claim of Bob',
  }));
});

test('rejecting a claim tells its agent', async () => {
  const { id, first } = await several();
  await expectOne(id, () => steps.resolve(ann, id, first, 'reject'), () => ({
    ...{ type: 'task.claim_rejected', audience: [ann, bob, eve], claimId: first, says: 'Ann rejected the claim of Bob' },
  }));
});

test('withdrawing a claim tells its agent and the creator', async () => {
  const { id, first } = await several();
  await expectOne(id, () => steps.update(bob, id, 'unclaim', 'Busy'), () => ({
    ...{ type: 'task.claim_withdrawn', audience: [ann, bob, eve], claimId: first },
    ...{ says: 'Bob withdrew its claim: Busy', note: 'Busy' },
  }));
});

test('start, unclaim, approve and reject tell creator and assignee, the former one too', async () => {
  for (const [action, from, who, type, says] of [
    ['start', 'claimed', bob, 'task.started', 'Bob started the task: Now'],
    ['unclaim', 'claimed', bob, 'task.unclaimed', 'Bob gave the task back: Now'],
    ['approve', 'review', ann, 'task.approved', 'Ann approved the result: Now'],
    ['reject', 'review', ann, 'task.rejected', 'Ann rejected the result: Now'],
  ] as const) {
    const id = await bring(from);
    await expectOne(id, () => steps.update(who, id, action, 'Now'), () => ({
      ...{ type, audience: [ann, bob], previousStatus: from, says, note: 'Now' },
    }));
  }
});

test('cancel tells the assignee or those with pending claims', async () => {
  const { id } = await several();
  const cancelled = { type: 'task.cancelled', says: 'Ann cancelled the task' };
  await expectOne(id, () => steps.update(ann, id, 'cancel'), () => ({ ...cancelled, audience: [ann, bob, eve], previousStatus: 'open' }));
  const held = await bring('claimed');
  await expectOne(held, () => steps.update(ann, held, 'cancel'), () => ({ ...cancelled, audience: [ann, bob], previousStatus: 'claimed' }));
});

test('submit tells the creator of the result or of the failure', async () => {
  const id = await bring('in_progress');
  await expectOne(id, () => steps.submit(bob, id), () => ({
    ...{ type: 'task.submitted', audience: [ann, bob], previousStatus: 'in_progress', says: 'Bob submitted a result' },
  }));
  const lost = await bring('claimed');
  await expectOne(lost, () => steps.submit(bob, lost, { failed: true, failure_reason: 'Rain' }), () => ({
    ...{ type: 'task.failed', audience: [ann, bob], previousStatus: 'claimed', says: 'Bob gave up: Rain', note: 'Rain' },
  }));
});

test('a message tells all who may read along, and is no entry of the log', async () => {
  const { id } = await several();
  await expectOne(id, () => steps.post(bob, id), () => ({ type: 'task.message_posted', audience: [ann, bob, eve] }));
});

test('expiry tells creator and claimers, and nobody is its actor', async () => {
  const { id } = await several();
  clock.advance(1440 * 60_000);
  await expectOne(id, () => expireTasks(tasks.context), () => ({
    ...{ type: 'task.expired', audience: [ann, bob, eve], previousStatus: 'open', says: 'The task has expired' },
  }));
});

test('what is refused leaves nothing', async () => {
  const id = await bring('claimed');
  const before = [await tracesOf(tasks, id), await tasks.context.database.prisma.message.count()];
  await steps.claim(eve, id);
  await steps.update(eve, id, 'start');
  await steps.update(ann, id, 'approve');
  await steps.submit(eve, id);
  await steps.delegate(eve, id);
  await steps.post(eve, id);
  await steps.resolve(ann, id, id, 'accept');
  expect([await tracesOf(tasks, id), await tasks.context.database.prisma.message.count()]).toEqual(before);
});
