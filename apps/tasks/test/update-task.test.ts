import { type TestClock, testClock } from '@acsp/testkit';
import { actions, moves } from '../src/task/decide.js';
import { agent, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, statuses, stepsOf, taskIn, withLabels } from './steps.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const hourMs = 60 * 60_000;

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());
beforeEach(() => clock.advance(1_000));

const bring = (status: (typeof statuses)[number], fields: object = {}) =>
  taskIn(steps, status, { creator: ann, worker: bob, ...fields });
const taskOf = async (id: string) => (await steps.details(ann, id)).body.task;
const claimsOf = async (id: string) => (await steps.details(ann, id)).body.claims;
const now = () => clock.now().toISOString();

test('start: the assigned agent begins its work', async () => {
  const id = await bring('claimed');
  const { status, body } = await steps.update(bob, id, 'start');
  expect(status).toBe(200);
  expect(body).toEqual({ task_id: id, status: 'in_progress', message: 'Task is in progress' });
  expect(await taskOf(id)).toMatchObject({
    status: 'in_progress',
    started_at: now(),
    assigned_aid: bob.aid,
    claims_count: 1,
  });
});

test('cancel: an open task ends, and its pending claims are rejected', async () => {
  const id = await bring('open', { max_claims: 3 });
  await steps.claim(bob, id);
  await steps.claim(eve, id);
  expect(await steps.update(ann, id, 'cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  expect(await taskOf(id)).toMatchObject({ status: 'cancelled', claims_count: 0, completed_at: null });
  expect(await claimsOf(id)).toMatchObject([{ status: 'rejected', resolved_at: now() }, { status: 'rejected' }]);
});

test('cancel: a claimed task keeps its assignment and the accepted claim', async () => {
  const id = await bring('claimed');
  expect((await steps.update(ann, id, 'cancel')).body.status).toBe('cancelled');
  expect(await taskOf(id)).toMatchObject({
    assigned_aid: bob.aid,
    assigned_name: 'Bob',
    claims_count: 1,
    completed_at: null,
  });
  expect(await claimsOf(id)).toMatchObject([{ status: 'accepted' }]);
});

test('unclaim: the task is open for anybody again, the same agent too', async () => {
  const id = await bring('claimed');
  expect(await steps.update(bob, id, 'unclaim')).toMatchObject({ status: 200, body: { status: 'open' } });
  const nobody = { assigned_aid: null, assigned_name: null, claimed_at: null, claims_count: 0 };
  expect(await taskOf(id)).toMatchObject({ status: 'open', ...nobody });
  expect(await claimsOf(id)).toMatchObject([{ agent_aid: bob.aid, status: 'withdrawn', resolved_at: now() }]);
  expect((await steps.claim(bob, id)).body.task_status).toBe('claimed');
});

test('unclaim: takes back a pending claim and leaves the others and the task as they are', async () => {
  const id = await bring('open', { max_claims: 2 });
  await steps.claim(bob, id);
  await steps.claim(eve, id);
  expect(await steps.update(bob, id, 'unclaim')).toMatchObject({ status: 200, body: { status: 'open' } });
  expect(await taskOf(id)).toMatchObject({ status: 'open', claims_count: 1 });
  expect(await claimsOf(id)).toMatchObject([{ status: 'withdrawn' }, { agent_aid: eve.aid, status: 'pending' }]);
  expect(await steps.update(bob, id, 'unclaim')).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
});

test('approve: the task is done', async () => {
  const id = await bring('review');
  expect(await steps.update(ann, id, 'approve')).toMatchObject({ status: 200, body: { status: 'done' } });
  const kept = { assigned_aid: bob.aid, result_text: '42 stones', claims_count: 1 };
  expect(await taskOf(id)).toMatchObject({ status: 'done', completed_at: now(), ...kept });
});

test('reject: the task is open again, and the same agent may claim it again', async () => {
  const id = await bring('review');
  const { expires_at } = await taskOf(id);
  clock.advance(1_000);
  expect(await steps.update(ann, id, 'reject')).toMatchObject({ status: 200, body: { status: 'open' } });
  const nobody = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null, claims_count: 0 };
  expect(await taskOf(id)).toMatchObject({ status: 'open', expires_at, completed_at: null, ...nobody });
  expect(await claimsOf(id)).toMatchObject([{ status: 'rejected', resolved_at: now() }]);
  expect((await steps.claim(bob, id)).body.task_status).toBe('claimed');
});

test('reject: renews expires_at by the ttl of the task, but only when it has passed', async () => {
  const id = await bring('review', { ttl_minutes: 60 });
  clock.advance(hourMs);
  await steps.update(ann, id, 'reject');
  expect(await taskOf(id)).toMatchObject({
    status: 'open',
    expires_at: new Date(clock.now().getTime() + hourMs).toISOString(),
  });
});

const wrong = actions.flatMap((action) => {
  const from: readonly string[] = moves[action].from;
  return statuses.filter((status) => !from.includes(status)).map((status) => [action, status] as const);
});

test.each(wrong)('%s is refused on a task that is %s, and changes nothing', async (action, status) => {
  const id = await bring(status);
  const before = await steps.details(ann, id);
  const who = moves[action].by === 'creator' ? ann : bob;
  const assigned = status !== 'open' && status !== 'cancelled';
  const expected = who === ann || assigned ? [409, 'INVALID_TRANSITION'] : [403, 'PERMISSION_DENIED'];
  const answer = await steps.update(who, id, action);
  expect([answer.status, answer.body.code]).toEqual(expected);
  expect((await steps.details(ann, id)).body).toEqual(before.body);
});

test.each(actions)('%s is refused to everybody else before the state is looked at', async (action) => {
  const { by, from } = moves[action];
  for (const status of [from[0] as (typeof statuses)[number], 'done'] as const) {
    const id = await bring(status);
    for (const who of [eve, by === 'creator' ? bob : ann]) {
      expect(await steps.update(who, id, action)).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
    }
  }
});

test('a move that was made is refused the second time', async () => {
  const id = await bring('claimed');
  await steps.update(bob, id, 'start');
  expect(await steps.update(bob, id, 'start')).toMatchObject({ status: 409, body: { code: 'INVALID_TRANSITION' } });
});

test('the comment stands in the thread, free of markup', async () => {
  const id = await bring('review');
  await steps.update(ann, id, 'reject', 'Count <b>again</b>, a < b');
  const last = (await steps.details(ann, id)).body.messages.at(-1);
  expect(last).toMatchObject({ msg_type: 'system', sender_aid: null, sender_name: 'acsp' });
  expect(last.content).toBe('Ann rejected the result: Count again, a < b');
  expect(last.metadata).toEqual({ event: 'task.rejected', actor_aid: ann.aid, comment: 'Count again, a < b' });
});

test.each(
  withLabels([
    ['INVALID_TASK_ID', { task_id: undefined }],
    ['INVALID_TASK_ID', { task_id: 42 }],
    ['INVALID_ACTION', { action: undefined }],
    ['INVALID_ACTION', { action: 'finish' }],
    ['INVALID_ACTION', { action: 'constructor' }],
    ['INVALID_CONTENT', { comment: '' }],
    ['INVALID_CONTENT', { comment: '<i></i>' }],
    ['INVALID_CONTENT', { comment: 'a\0' }],
    ['INVALID_CONTENT', { comment: 'x'.repeat(1025) }],
    ['INVALID_AID', { aid: 'ann' }],
  ]),
)('refuses with %s: %s', async (code, _label, fields) => {
  const answer = await tasks.call(ann, 'POST /tasks/update', { task_id: nowhere, action: 'cancel', ...fields });
  expect(answer).toMatchObject({ status: 400, body: { code } });
});

test('refuses an unknown task, a caller without a principal and an aid that is not the caller', async () => {
  expect(await steps.update(ann, nowhere, 'cancel')).toMatchObject({ status: 404, body: { code: 'TASK_NOT_FOUND' } });
  const request = { task_id: await bring('open'), action: 'cancel' };
  const nobody = await tasks.call(undefined, 'POST /tasks/update', request);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  const posing = await tasks.call(bob, 'POST /tasks/update', { ...request, aid: ann.aid });
  expect(posing).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
});
