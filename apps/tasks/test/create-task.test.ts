import { agent, startTasks, stranger, type Tasks } from './harness.js';
import { draft, nowhere, type Steps, stepsOf, taskIn, withLabels } from './steps.js';

let tasks: Tasks;
let steps: Steps;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

beforeAll(async () => {
  tasks = await startTasks();
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

const countTasks = () => tasks.context.database.prisma.task.count();

test('answers 201 with an open task of the caller, and the defaults for what was left out', async () => {
  const { status, body } = await steps.create(ann);
  expect(status).toBe(201);
  const { id, created_at, expires_at, ...rest } = body.task;
  expect(id).toMatch(uuid7);
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(1440 * 60_000);
  expect(rest).toEqual({
    ...draft,
    ...{ creator_aid: ann.aid, creator_name: 'Ann', parent_id: null, target_aid: null },
    ...{ requirements: [], tags: [], status: 'open', priority: 'normal', deadline: null, metadata: {} },
    ...{ max_claims: 1, claims_count: 0, subtasks_count: 0, assigned_aid: null, assigned_name: null },
    ...{ result: null, result_text: null, failure_reason: null, workspace_id: null, group_id: null },
    ...{ claimed_at: null, started_at: null, completed_at: null },
  });
});

test('frees every text of HTML, the items of lists too', async () => {
  const fields = {
    title: '<b>Sort</b>',
    description: 'By <i>weight</i>',
    requirements: ['<b>scales</b>'],
    tags: ['<u>rock</u>'],
  };
  const { body } = await steps.create(ann, fields);
  expect(body.task).toMatchObject({
    title: 'Sort',
    description: 'By weight',
    requirements: ['scales'],
    tags: ['rock'],
  });
  const empty = await steps.create(ann, { ...fields, tags: ['<br>'] });
  expect(empty).toMatchObject({ status: 400, body: { code: 'INVALID_TAGS' } });
});

test('keeps every field as it was given', async () => {
  const fields = {
    ...{ title: 'Sort 🪨', description: 'By weight', requirements: ['scales', 'R&D'], tags: ['rock', 'a < b'] },
    ...{
      priority: 'urgent',
      deadline: '2030-02-28T10:00:00+02:00',
      ttl_minutes: 90,
      target_aid: bob.aid,
      max_claims: 7,
    },
    ...{ workspace_id: nowhere, group_id: nowhere, metadata: { 'k.é': [1.5, null, { deep: true }], empty: {} } },
  };
  const { body } = await steps.create(ann, fields);
  const { ttl_minutes: _, ...shown } = fields;
  expect(body.task).toMatchObject({ ...shown, deadline: '2030-02-28T08:00:00.000Z' });
  expect(Date.parse(body.task.expires_at) - Date.parse(body.task.created_at)).toBe(90 * 60_000);
  expect((await steps.details(bob, body.task.id)).body.task).toEqual(body.task);
});

test('removes markup from title and description and keeps every other character', async () => {
  const title = 'a < b && c > d <b>bold</b> Vec<String>';
  const { body } = await steps.create(ann, { title, description: '<script>alert(1)</script>R&D &amp;' });
  expect(body.task).toMatchObject({ title: 'a < b && c > d bold Vec<String>', description: 'R&D &amp;' });
});

test('counts characters by code points and takes each field at its limit', async () => {
  const answer = await steps.create(ann, {
    ...{ title: '🪨'.repeat(256), description: 'é'.repeat(4096), ttl_minutes: 43_200, max_claims: 100 },
    ...{ requirements: Array(20).fill('r'.repeat(256)), tags: Array(20).fill('t'.repeat(64)) },
    ...{ metadata: { text: 'x'.repeat(4096 - '{"text":""}'.length) } },
  });
  expect(answer.status).toBe(201);
});

test('takes null in an optional field and members that it does not know as if they were absent', async () => {
  const answer = await steps.create(ann, {
    tags: null,
    deadline: null,
    parent_id: null,
    metadata: null,
    status: 'done',
  });
  expect(answer).toMatchObject({ status: 201, body: { task: { status: 'open', tags: [], metadata: {} } } });
});

test.each(
  withLabels([
    ['MISSING_TITLE', { title: undefined }],
    ['MISSING_TITLE', { title: null }],
    ['INVALID_CONTENT', { title: '' }],
    ['INVALID_CONTENT', { title: ' \n' }],
    ['INVALID_CONTENT', { title: '<b></b>' }],
    ['INVALID_CONTENT', { title: 7 }],
    ['INVALID_CONTENT', { title: 'a\0b' }],
    ['INVALID_CONTENT', { title: 'a\ud800b' }],
    ['INVALID_CONTENT', { title: 'x'.repeat(257) }],
    ['MISSING_DESCRIPTION', { description: null }],
    ['INVALID_CONTENT', { description: 'x'.repeat(4097) }],
    ['INVALID_REQUIREMENTS', { requirements: 'scales' }],
    ['INVALID_REQUIREMENTS', { requirements: Array(21).fill('r') }],
    ['INVALID_REQUIREMENTS', { requirements: ['ok', ''] }],
    ['INVALID_REQUIREMENTS', { requirements: ['r'.repeat(257)] }],
    ['INVALID_TAGS', { tags: Array(21).fill('t') }],
    ['INVALID_TAGS', { tags: [['t']] }],
    ['INVALID_FIELD', { priority: 'huge' }],
    ['INVALID_DEADLINE', { deadline: 'tomorrow' }],
    ['INVALID_DEADLINE', { deadline: '2030-02-30T00:00:00Z' }],
    ['INVALID_FIELD', { ttl_minutes: 0 }],
    ['INVALID_FIELD', { ttl_minutes: 43_201 }],
    ['INVALID_FIELD', { ttl_minutes: 1.5 }],
    ['INVALID_FIELD', { ttl_minutes: '60' }],
    ['INVALID_FIELD', { max_claims: 0 }],
    ['INVALID_FIELD', { max_claims: 101 }],
    ['INVALID_TARGET_AID', { target_aid: 'bob' }],
    ['INVALID_WORKSPACE_ID', { workspace_id: `ws_${nowhere}` }],
    ['INVALID_GROUP_ID', { group_id: 'g' }],
    ['INVALID_PARENT_ID', { parent_id: 'p' }],
    ['INVALID_METADATA', { metadata: [] }],
    ['INVALID_METADATA', { metadata: 'text' }],
    ['INVALID_METADATA', { metadata: { text: 'x'.repeat(4096) } }],
    ['INVALID_METADATA', { metadata: nested(17) }],
    ['INVALID_METADATA', { metadata: { nul: '\0' } }],
    ['INVALID_AID', { aid: 'ann' }],
  ]),
)('refuses with %s and writes nothing: %s', async (code, _label, fields) => {
  const before = await countTasks();
  const answer = await steps.create(ann, fields);
  expect(answer).toMatchObject({ status: 400, body: { code } });
  expect(answer.body.errors[0].field.split('.')[0]).toBe(Object.keys(fields)[0]);
  expect(await countTasks()).toBe(before);
});

test('takes metadata sixteen levels deep', async () => {
  expect((await steps.create(ann, { metadata: nested(16) })).status).toBe(201);
});

test('refuses a target that no active agent has', async () => {
  const answer = await steps.create(ann, { target_aid: stranger.aid });
  expect(answer).toMatchObject({ status: 404, body: { code: 'AID_NOT_FOUND' } });
});

test('refuses a caller without a principal, and an aid that is not the caller', async () => {
  const nobody = await tasks.call(undefined, 'POST /tasks', draft);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  expect(await steps.create(ann, { aid: bob.aid })).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
  expect((await steps.create(ann, { aid: ann.aid })).status).toBe(201);
});

test('makes another task of the same request', async () => {
  const [first, second] = [await steps.created(ann), await steps.created(ann)];
  expect(first).not.toBe(second);
});

test('adds a subtask to a parent that the caller created or works on', async () => {
  const parent = await taskIn(steps, 'in_progress', { creator: ann, worker: bob, workspace_id: nowhere });
  for (const who of [ann, bob]) {
    const { status, body } = await steps.create(who, { parent_id: parent, max_claims: 3 });
    expect(status).toBe(201);
    expect(body.task).toMatchObject({ parent_id: parent, creator_aid: who.aid, workspace_id: nowhere, max_claims: 3 });
  }
  expect((await steps.details(ann, parent)).body.task.subtasks_count).toBe(2);
});

test('refuses a subtask by the rules of delegation', async () => {
  const done = await taskIn(steps, 'done', { creator: ann, worker: bob });
  const second = (await steps.create(ann, { parent_id: await steps.created(ann) })).body.task.id;
  const third = (await steps.create(ann, { parent_id: second })).body.task.id;
  for (const [who, parent_id, status, code] of [
    [ann, nowhere, 404, 'PARENT_NOT_FOUND'],
    [eve, done, 403, 'PERMISSION_DENIED'],
    [ann, done, 409, 'PARENT_CLOSED'],
    [ann, third, 400, 'MAX_DEPTH_EXCEEDED'],
  ] as const) {
    expect(await steps.create(who, { parent_id })).toMatchObject({ status, body: { code } });
  }
});

function nested(levels: number): object {
  return levels === 1 ? {} : { in: nested(levels - 1) };
}
