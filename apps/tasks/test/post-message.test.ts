import { metric, type TestClock, testClock } from '@acsp/testkit';
import { postMessage } from '../src/operations/post-message.js';
import { agent, callDirectly, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, stepsOf, taskIn, withLabels } from './steps.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve, zoe] = [agent('Ann'), agent('Bob'), agent('Eve'), agent('Zoe')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());
beforeEach(() => clock.advance(1_000));

const threadOf = async (id: string) => (await steps.details(ann, id)).body.messages;

test('answers 201 with the message, and it stands in the thread', async () => {
  const id = await steps.created(ann);
  clock.advance(1_000);
  const metadata = { heap: { size: 3 } };
  const { status, body } = await steps.post(ann, id, {
    content: 'Count <b>all</b>, a < b',
    msg_type: 'result',
    metadata,
  });
  expect(status).toBe(201);
  const created_at = clock.now().toISOString();
  const shown = { task_id: id, sender_aid: ann.aid, msg_type: 'result', content: 'Count all, a < b', created_at };
  expect(body).toEqual({ id: body.id, ...shown });
  expect((await threadOf(id)).at(-1)).toEqual({ ...body, sender_name: 'Ann', metadata });
});

test('is a comment unless it says otherwise, and takes every type that agents may write', async () => {
  const id = await steps.created(ann);
  expect((await steps.post(ann, id)).body.msg_type).toBe('comment');
  for (const msg_type of ['comment', 'status_update', 'question', 'result']) {
    expect((await steps.post(ann, id, { msg_type })).body.msg_type).toBe(msg_type);
  }
});

test('changes nothing of the task', async () => {
  const id = await taskIn(steps, 'in_progress', { creator: ann, worker: bob });
  const before = (await steps.details(ann, id)).body;
  await steps.post(bob, id);
  const after = (await steps.details(ann, id)).body;
  expect({ ...after, messages: after.messages.slice(0, -1) }).toEqual(before);
});

test('lets the creator, the assigned agent and holders of live claims write, and nobody else', async () => {
  const several = await steps.created(ann, { max_claims: 3 });
  for (const who of [bob, eve]) await steps.claim(who, several);
  expect((await steps.post(eve, several)).status).toBe(201);
  await steps.update(eve, several, 'unclaim');
  const { claims } = (await steps.details(ann, several)).body;
  await steps.resolve(ann, several, claims[0].id, 'accept');
  for (const who of [ann, bob]) expect((await steps.post(who, several)).status).toBe(201);
  for (const who of [eve, zoe]) {
    expect(await steps.post(who, several)).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
  }
});

test.each(['open', 'claimed', 'in_progress', 'review'] as const)(
  'takes messages while the task is %s',
  async (status) => {
    const id = await taskIn(steps, status, { creator: ann, worker: bob });
    expect((await steps.post(ann, id)).status).toBe(201);
  },
);

test.each(['done', 'failed', 'cancelled'] as const)(
  'refuses messages once the task is %s, strangers before that',
  async (status) => {
    const id = await taskIn(steps, status, { creator: ann, worker: bob });
    const before = await threadOf(id);
    expect(await steps.post(ann, id)).toMatchObject({ status: 409, body: { code: 'TASK_CLOSED' } });
    expect(await steps.post(zoe, id)).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
    expect(await threadOf(id)).toEqual(before);
  },
);

test('posts the same message twice when asked twice', async () => {
  const id = await steps.created(ann);
  const [first, second] = [await steps.post(ann, id), await steps.post(ann, id)];
  expect(first.body.id).not.toBe(second.body.id);
  expect(await threadOf(id)).toHaveLength(3);
});

test.each(
  withLabels([
    ['INVALID_TASK_ID', { task_id: undefined }],
    ['INVALID_TASK_ID', { task_id: {} }],
    ['MISSING_CONTENT', { content: undefined }],
    ['MISSING_CONTENT', { content: null }],
    ['INVALID_CONTENT', { content: '' }],
    ['INVALID_CONTENT', { content: '<div> </div>' }],
    ['INVALID_CONTENT', { content: true }],
    ['INVALID_CONTENT', { content: '\0' }],
    ['INVALID_CONTENT', { content: 'x'.repeat(4097) }],
    ['INVALID_FIELD', { msg_type: 'system' }],
    ['INVALID_FIELD', { msg_type: 'shout' }],
    ['INVALID_METADATA', { metadata: 'none' }],
    ['INVALID_METADATA', { metadata: { text: 'x'.repeat(4096) } }],
    ['INVALID_AID', { aid: 'ann' }],
  ]),
)('refuses with %s: %s', async (code, _label, fields) => {
  const answer = await tasks.call(ann, 'POST /tasks/message', { task_id: nowhere, content: 'Hello', ...fields });
  expect(answer).toMatchObject({ status: 400, body: { code } });
});

test('refuses an unknown task, a caller without a principal and an aid that is not the caller', async () => {
  expect(await steps.post(ann, nowhere)).toMatchObject({ status: 404, body: { code: 'TASK_NOT_FOUND' } });
  const request = { task_id: await steps.created(ann), content: 'Hello' };
  const nobody = await tasks.call(undefined, 'POST /tasks/message', request);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  const posing = await tasks.call(bob, 'POST /tasks/message', { ...request, aid: ann.aid });
  expect(posing).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
});

test('messages of one task that come at once share a statement, so that a change does not overtake them', async () => {
  const id = await steps.created(ann);
  const runs = async () => (await metric('acsp_batch_seconds_count{statement="post message"}')) ?? 0;
  const before = await runs();
  const message = { caller: ann, fields: { task_id: id, content: 'Which stones?' } };
  const sent = Array.from({ length: 100 }, () => callDirectly(tasks, postMessage, message));
  const ids = (await Promise.all(sent)).map((message) => message.id);
  expect((await runs()) - before).toBeLessThan(5);
  expect((await threadOf(id)).slice(1).map((message: { id: string }) => message.id)).toEqual(ids.sort());
});
