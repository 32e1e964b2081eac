import { type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, statuses, stepsOf, taskIn, withLabels } from './steps.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

const bring = (status: (typeof statuses)[number], fields: object = {}) =>
  taskIn(steps, status, { creator: ann, worker: bob, ...fields });
const taskOf = async (id: string) => (await steps.details(ann, id)).body.task;

test.each(['claimed', 'in_progress'] as const)('hands in a result for review while the task is %s', async (status) => {
  const id = await bring(status);
  const result = { stones: 42, heaps: [[1, 2], { 'k.é': null }] };
  const answer = await steps.submit(bob, id, {
    result_text: '42 <b>stones</b>, a < b',
    result,
    failure_reason: 'none',
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ task_id: id, status: 'review' });
  const kept = { result_text: '42 stones, a < b', result, failure_reason: null };
  expect(await taskOf(id)).toMatchObject({ status: 'review', completed_at: null, assigned_aid: bob.aid, ...kept });
});

test('says that the task failed, and why', async () => {
  const id = await bring('in_progress');
  const answer = await steps.submit(bob, id, { failed: true, failure_reason: 'The heap fell over' });
  expect(answer).toMatchObject({ status: 200, body: { status: 'failed' } });
  const kept = { failure_reason: 'The heap fell over', result_text: '42 stones', claims_count: 1 };
  expect(await taskOf(id)).toMatchObject({ status: 'failed', completed_at: clock.now().toISOString(), ...kept });
  const last = (await steps.details(ann, id)).body.messages.at(-1);
  expect(last).toMatchObject({ msg_type: 'system', content: 'Bob gave up: The heap fell over' });
});

test('a failure without a reason does not put the whole result into the thread', async () => {
  const id = await bring('in_progress');
  await steps.submit(bob, id, { failed: true, result_text: 'x'.repeat(4096) });
  expect((await steps.details(ann, id)).body.messages.at(-1).content).toBe('Bob gave up');
});

test('needs no approval where the assigned agent is the creator', async () => {
  const id = await bring('in_progress');
  await tasks.context.database.prisma.task.update({ where: { id }, data: { creator_aid: bob.aid } });
  tasks.context.known.delete(id);
  expect(await steps.submit(bob, id)).toMatchObject({ status: 200, body: { status: 'done' } });
  expect(await taskOf(id)).toMatchObject({ status: 'done', completed_at: clock.now().toISOString() });
});

test('takes a result again after a rejection', async () => {
  const id = await bring('review');
  await steps.update(ann, id, 'reject');
  await steps.claim(eve, id);
  expect(await steps.submit(eve, id, { result_text: '43 stones' })).toMatchObject({ body: { status: 'review' } });
  expect(await taskOf(id)).toMatchObject({ assigned_aid: eve.aid, result_text: '43 stones', result: null });
});

test('refuses everybody but the assigned agent, before the state is looked at', async () => {
  for (const status of statuses) {
    const id = await bring(status);
    for (const who of [ann, eve]) {
      expect(await steps.submit(who, id)).toMatchObject({ status: 403, body: { code: 'NOT_ASSIGNED' } });
    }
  }
});

test.each(['review', 'done', 'failed'] as const)('refuses a task that is %s, and keeps its result', async (status) => {
  const id = await bring(status);
  const before = (await steps.details(ann, id)).body;
  for (const failed of [false, true]) {
    const answer = await steps.submit(bob, id, { failed, result_text: 'other' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_STATUS' } });
  }
  expect((await steps.details(ann, id)).body).toEqual(before);
});

test('refuses a cancelled task to the agent that still stands on it', async () => {
  const id = await bring('claimed');
  await steps.update(ann, id, 'cancel');
  expect(await steps.submit(bob, id)).toMatchObject({ status: 409, body: { code: 'INVALID_STATUS' } });
});

test.each(
  withLabels([
    ['INVALID_TASK_ID', { task_id: null }],
    ['INVALID_TASK_ID', { task_id: '42' }],
    ['MISSING_RESULT_TEXT', { result_text: undefined }],
    ['MISSING_RESULT_TEXT', { result_text: null }],
    ['INVALID_RESULT_TEXT', { result_text: ' ' }],
    ['INVALID_RESULT_TEXT', { result_text: '<p></p>' }],
    ['INVALID_RESULT_TEXT', { result_text: ['42'] }],
    ['INVALID_RESULT_TEXT', { result_text: '\udc00' }],
    ['INVALID_RESULT_TEXT', { result_text: 'x'.repeat(4097) }],
    ['INVALID_RESULT', { result: 'text' }],
    ['INVALID_RESULT', { result: [1] }],
    ['INVALID_RESULT', { result: { nul: '\0' } }],
    ['INVALID_FIELD', { failed: 'yes' }],
    ['INVALID_CONTENT', { failure_reason: 'x'.repeat(1025) }],
    ['INVALID_AID', { aid: 'bob' }],
  ]),
)('refuses with %s: %s', async (code, _label, fields) => {
  const answer = await tasks.call(bob, 'POST /tasks/submit', { task_id: nowhere, result_text: '42', ...fields });
  expect(answer).toMatchObject({ status: 400, body: { code } });
});

test('refuses an unknown task, a caller without a principal and an aid that is not the caller', async () => {
  expect(await steps.submit(bob, nowhere)).toMatchObject({ status: 404, body: { code: 'TASK_NOT_FOUND' } });
  const request = { task_id: await bring('claimed'), result_text: '42' };
  const nobody = await tasks.call(undefined, 'POST /tasks/submit', request);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  const posing = await tasks.call(eve, 'POST /tasks/submit', { ...request, aid: bob.aid });
  expect(posing).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
});
