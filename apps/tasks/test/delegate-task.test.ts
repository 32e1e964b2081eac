import { type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, stranger, type Tasks } from './harness.js';
import { draft, nowhere, type Steps, stepsOf, taskIn, withLabels } from './steps.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const [workspace_id, group_id] = ['019a0000-0000-7000-8000-00000000000a', '019a0000-0000-7000-8000-00000000000b'];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

const taskOf = async (id: string) => (await steps.details(ann, id)).body.task;

test('the subtask belongs to whoever delegates and inherits workspace and group', async () => {
  const parent = await taskIn(steps, 'claimed', { creator: ann, worker: bob, workspace_id, group_id, ttl_minutes: 5 });
  const fields = { requirements: ['scales'], target_aid: eve.aid, priority: 'high', metadata: { heap: 1 } };
  const { status, body } = await steps.delegate(bob, parent, fields);
  expect(status).toBe(201);
  expect(body.task).toMatchObject({
    ...draft,
    ...fields,
    ...{ creator_aid: bob.aid, creator_name: 'Bob', parent_id: parent, workspace_id, group_id },
    ...{ status: 'open', tags: [], max_claims: 1, claims_count: 0, subtasks_count: 0, assigned_aid: null },
    expires_at: new Date(clock.now().getTime() + 1440 * 60_000).toISOString(),
  });
  expect(await taskOf(body.task.id)).toEqual(body.task);
  expect((await steps.claim(ann, body.task.id)).body.code).toBe('NOT_TARGET');
});

test('the parent stays as it is and counts its subtasks', async () => {
  const parent = await taskIn(steps, 'review', { creator: ann, worker: bob });
  const before = await taskOf(parent);
  for (const who of [ann, bob, ann]) await steps.delegate(who, parent);
  expect(await taskOf(parent)).toEqual({ ...before, subtasks_count: 3 });
  expect((await steps.details(ann, parent)).body.subtasks).toHaveLength(3);
});

test.each(['open', 'claimed', 'in_progress', 'review'] as const)(
  'takes a subtask of a parent that is %s',
  async (status) => {
    const parent = await taskIn(steps, status, { creator: ann, worker: bob });
    expect((await steps.delegate(ann, parent)).status).toBe(201);
  },
);

test.each(['done', 'failed', 'cancelled'] as const)('refuses a subtask of a parent that is %s', async (status) => {
  const parent = await taskIn(steps, status, { creator: ann, worker: bob });
  expect(await steps.delegate(ann, parent)).toMatchObject({ status: 409, body: { code: 'PARENT_CLOSED' } });
  expect((await taskOf(parent)).subtasks_count).toBe(0);
});

test('refuses a subtask of a parent that has run out', async () => {
  const parent = await steps.created(ann, { ttl_minutes: 1 });
  clock.advance(60_000);
  expect(await steps.delegate(ann, parent)).toMatchObject({ status: 409, body: { code: 'PARENT_CLOSED' } });
});

test('goes three levels deep, the root counted', async () => {
  const root = await steps.created(ann);
  const second = (await steps.delegate(ann, root)).body.task.id;
  const third = (await steps.delegate(ann, second)).body.task.id;
  expect(await steps.delegate(ann, third)).toMatchObject({ status: 400, body: { code: 'MAX_DEPTH_EXCEEDED' } });
  expect((await taskOf(third)).subtasks_count).toBe(0);
});

test('refuses everybody but the creator and the assigned agent, before the state is looked at', async () => {
  for (const status of ['in_progress', 'done'] as const) {
    const parent = await taskIn(steps, status, { creator: ann, worker: bob });
    expect(await steps.delegate(eve, parent)).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
  }
  const several = await steps.created(ann, { max_claims: 2 });
  await steps.claim(bob, several);
  expect(await steps.delegate(bob, several)).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
});

test('refuses a target that no active agent has, and counts nothing', async () => {
  const parent = await steps.created(ann);
  const answer = await steps.delegate(ann, parent, { target_aid: stranger.aid });
  expect(answer).toMatchObject({ status: 404, body: { code: 'AID_NOT_FOUND' } });
  expect((await taskOf(parent)).subtasks_count).toBe(0);
});

test('makes another subtask of the same request', async () => {
  const parent = await steps.created(ann);
  await steps.delegate(ann, parent);
  await steps.delegate(ann, parent);
  expect((await taskOf(parent)).subtasks_count).toBe(2);
});

test.each(
  withLabels([
    ['INVALID_PARENT_ID', { parent_id: undefined }],
    ['INVALID_PARENT_ID', { parent_id: '42' }],
    ['MISSING_TITLE', { title: undefined }],
    ['INVALID_CONTENT', { title: 'x'.repeat(257) }],
    ['MISSING_DESCRIPTION', { description: null }],
    ['INVALID_CONTENT', { description: '<br>' }],
    ['INVALID_REQUIREMENTS', { requirements: Array(21).fill('r') }],
    ['INVALID_TARGET_AID', { target_aid: 'eve' }],
    ['INVALID_FIELD', { priority: 1 }],
    ['INVALID_METADATA', { metadata: [] }],
    ['INVALID_AID', { aid: 'ann' }],
  ]),
)('refuses with %s: %s', async (code, _label, fields) => {
  const answer = await tasks.call(ann, 'POST /tasks/delegate', { parent_id: nowhere, ...draft, ...fields });
  expect(answer).toMatchObject({ status: 400, body: { code } });
});

test('refuses an unknown parent, a caller without a principal and an aid that is not the caller', async () => {
  expect(await steps.delegate(ann, nowhere)).toMatchObject({ status: 404, body: { code: 'PARENT_NOT_FOUND' } });
  const request = { ...draft, parent_id: await steps.created(ann) };
  const nobody = await tasks.call(undefined, 'POST /tasks/delegate', request);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  const posing = await tasks.call(bob, 'POST /tasks/delegate', { ...request, aid: ann.aid });
  expect(posing).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
});
