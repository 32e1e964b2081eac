import { catalogue, type ErrorCode } from '@acsp/errors';
import { type Answer, startWorld, stranger, type TestAgent, type World } from './harness.js';
import { text, time, uuid } from './shapes.js';

// The documented answers, moves and errors of tasks, operation by operation.

let world: World;
let ann: TestAgent;
let bob: TestAgent;
let eve: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  [ann, bob, eve] = [await world.quickstart('Ann'), await world.quickstart('Bob'), await world.quickstart('Eve')];
});
afterAll(() => world[Symbol.asyncDispose]());

const nowhere = '019a0000-0000-7000-8000-000000000000';
const texts = { title: 'Paint the fence', description: 'Both sides, twice' };
const refusal = ({ status, body }: Answer) => ({ status, code: body.code });
const refused = (code: ErrorCode) => ({ status: catalogue[code].http, code });
const plain = ({ status, body }: Answer) => ({ status, body });

type Who = 'ann' | 'bob' | 'eve';
const agentOf = (who: Who) => ({ ann, bob, eve })[who];
const call = (who: Who, path: string, body: object) => world.call(agentOf(who), `POST /tasks${path}`, body);
const create = async (fields: object = {}): Promise<string> => (await call('ann', '', { ...texts, ...fields })).body.task.id;
const claim = (who: Who, task_id: string, fields: object = {}) => call(who, '/claim', { task_id, ...fields });
const update = (who: Who, task_id: string, action: string, fields: object = {}) => call(who, '/update', { task_id, action, ...fields });
const submit = (who: Who, task_id: string, fields: object = {}) => call(who, '/submit', { task_id, result_text: 'Painted', ...fields });
const details = async (id: string) => (await world.call(eve, `GET /tasks/${id}`)).body;

/** A task of Ann that Bob has brought to a status. */
async function taskIn(status: string): Promise<string> {
  const id = await create();
  if (status === 'open') return id;
  if (status === 'cancelled') return update('ann', id, 'cancel').then(() => id);
  await claim('bob', id);
  if (status === 'in_progress') await update('bob', id, 'start');
  if (status === 'failed') await submit('bob', id, { failed: true });
  if (status === 'review' || status === 'done') await submit('bob', id);
  if (status === 'done') await update('ann', id, 'approve');
  expect((await details(id)).task.status).toBe(status);
  return id;
}

/** Every field of a task, as it is when nothing was given or has happened. */
const fresh = (creator: TestAgent) => ({
  id: uuid,
  creator_aid: creator.aid,
  creator_name: creator.name,
  parent_id: null,
  ...texts,
  requirements: [],
  tags: [],
  status: 'open',
  priority: 'normal',
  deadline: null,
  expires_at: time,
  assigned_aid: null,
  assigned_name: null,
  target_aid: null,
  max_claims: 1,
  claims_count: 0,
  subtasks_count: 0,
  result: null,
  result_text: null,
  failure_reason: null,
  workspace_id: null,
  group_id: null,
  metadata: {},
  created_at: time,
  claimed_at: null,
  started_at: null,
  completed_at: null,
});

describe('POST /tasks', () => {
  test('answers 201 with every field, and its defaults', async () => {
    const answer = await call('ann', '', texts);
    expect(plain(answer)).toEqual({ status: 201, body: { task: fresh(ann) } });
    const { created_at, expires_at } = answer.body.task;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(1440 * 60_000);
  });

  test('keeps what is given', async () => {
    const given = {
      requirements: ['a brush'],
      tags: ['garden'],
      priority: 'urgent',
      deadline: '2030-01-01T12:00:00.000Z',
      target_aid: bob.aid,
      max_claims: 100,
      workspace_id: nowhere,
      group_id: nowhere,
      metadata: { colour: 'white' },
    };
    const { body } = await call('ann', '', { ...texts, ...given, aid: ann.aid, ttl_minutes: 43_200 });
    expect(body.task).toEqual({ ...fresh(ann), ...given });
    expect((await details(body.task.id)).task).toEqual(body.task);
  });

  test('puts a subtask under its parent, with the parent’s workspace and group', async () => {
    const parent_id = await create({ workspace_id: nowhere, group_id: nowhere });
    const { body } = await call('ann', '', { ...texts, parent_id });
    expect(body.task).toMatchObject({ parent_id, workspace_id: nowhere, group_id: nowhere });
    expect((await details(parent_id)).task.subtasks_count).toBe(1);
  });

  const faults: [code: ErrorCode, change: object][] = [
    ['MISSING_TITLE', { title: undefined }],
    ['MISSING_DESCRIPTION', { description: null }],
    ['INVALID_CONTENT', { title: '<b></b>' }],
    ['INVALID_CONTENT', { description: 'x'.repeat(4097) }],
    ['INVALID_REQUIREMENTS', { requirements: Array.from({ length: 21 }, (_, i) => `${i}`) }],
    ['INVALID_TAGS', { tags: 'garden' }],
    ['INVALID_DEADLINE', { deadline: 'tomorrow' }],
    ['INVALID_AID', { aid: 'x' }],
    ['INVALID_TARGET_AID', { target_aid: 'x' }],
    ['INVALID_WORKSPACE_ID', { workspace_id: 'ws_1' }],
    ['INVALID_GROUP_ID', { group_id: 'grp_1' }],
    ['INVALID_PARENT_ID', { parent_id: '1' }],
    ['INVALID_METADATA', { metadata: 'white' }],
    ['INVALID_FIELD', { priority: 'soon' }],
    ['INVALID_FIELD', { ttl_minutes: 43_201 }],
    ['INVALID_FIELD', { max_claims: 0 }],
    ['AID_MISMATCH', { aid: 'f'.repeat(50) }],
    ['AID_NOT_FOUND', { target_aid: 'f'.repeat(50) }],
    ['PARENT_NOT_FOUND', { parent_id: nowhere }],
  ];

  test.each(faults)('refuses with %s where it is %j', async (code, change) => {
    expect(refusal(await call('ann', '', { ...texts, ...change }))).toEqual(refused(code));
  });

  test('names every field that is wrong, and says what is wrong with it', async () => {
    const { body } = await call('ann', '', { title: 7, max_claims: 101, tags: [''] });
    expect(body.errors).toEqual([
      { field: 'title', message: 'must be a string' },
      { field: 'description', message: 'required' },
      { field: 'tags.0', message: 'must not be empty' },
      { field: 'max_claims', message: 'at most 100' },
    ]);
  });

  test('refuses a caller without a key, or with a wrong one', async () => {
    expect(refusal(await world.call(undefined, 'POST /tasks', texts))).toEqual(refused('AUTH_REQUIRED'));
    expect(refusal(await world.call({ ...ann, loginKey: 'nk_wrong' }, 'POST /tasks', texts))).toEqual(refused('INVALID_LOGIN_KEY'));
  });

  test('refuses a fourth level, a parent of others, and one that is closed', async () => {
    const root = await create();
    const second = await create({ parent_id: root });
    const third = await create({ parent_id: second });
    expect(refusal(await call('ann', '', { ...texts, parent_id: third }))).toEqual(refused('MAX_DEPTH_EXCEEDED'));
    expect(refusal(await call('eve', '', { ...texts, parent_id: root }))).toEqual(refused('PERMISSION_DENIED'));
    expect(refusal(await call('ann', '', { ...texts, parent_id: await taskIn('cancelled') }))).toEqual(refused('PARENT_CLOSED'));
  });
});

describe('GET /tasks', () => {
  let creator: TestAgent;
  const list = async (query: string) => plain(await world.call(creator, `GET /tasks?created_by=${creator.aid}&${query}`));
  const titles = async (query: string) => (await list(query)).body.tasks.map(({ title }: { title: string }) => title);
  let first: string;

  beforeAll(async () => {
    creator = await world.quickstart('Lister');
    const make = async (title: string, fields: object) =>
      (await world.call(creator, 'POST /tasks', { title, description: 'To be listed', ...fields })).body.task.id;
    first = await make('a', { priority: 'low', deadline: '2030-03-01T00:00:00Z' });
    await make('b', { priority: 'urgent', workspace_id: nowhere });
    await make('c', { deadline: '2030-02-01T00:00:00Z' });
    await make('a1', { parent_id: first });
    await claim('bob', await make('d', {}));
  });

  test('answers with the documented fields', async () => {
    const { title: _title, description: _description, ...summary } = fresh(creator);
    const shown = ['id', 'creator_aid', 'creator_name', 'parent_id', 'requirements', 'tags', 'status', 'priority', 'deadline', 'expires_at', 'assigned_aid', 'claims_count', 'subtasks_count', 'created_at'];
    const expected = Object.fromEntries(Object.entries(summary).filter(([name]) => shown.includes(name)));
    const { status, body } = await list('limit=1');
    const task = { ...expected, title: 'c', description: 'To be listed', deadline: '2030-02-01T00:00:00.000Z' };
    expect({ status, body }).toEqual({ status: 200, body: { tasks: [task], total: 3, has_more: true } });
  });

  const pages: [query: string, titles: string[]][] = [
    ['', ['c', 'b', 'a']],
    ['sort=priority', ['b', 'c', 'a']],
    ['sort=deadline', ['c', 'a', 'b']],
    ['limit=2&offset=1', ['b', 'a']],
    ['status=claimed', ['d']],
    ['status=open,claimed&limit=100', ['d', 'c', 'b', 'a']],
    ['status=done', []],
    ['priority=urgent', ['b']],
    [`workspace_id=${nowhere}`, ['b']],
    ['limit=5&limit=1', ['c']],
  ];

  test.each(pages)('with %s lists %j', async (query, expected) => {
    expect(await titles(query)).toEqual(expected);
  });

  test('lists subtasks by parent, and tasks by their assigned agent', async () => {
    expect(await titles(`parent_id=${first}`)).toEqual(['a1']);
    expect(await titles(`status=claimed&assigned_to=${bob.aid}`)).toEqual(['d']);
    expect(await titles(`status=claimed&assigned_to=${eve.aid}`)).toEqual([]);
  });

  const faults: [code: ErrorCode, query: string][] = [
    ['INVALID_FIELD', 'status=lost'],
    ['INVALID_FIELD', 'sort=title'],
    ['INVALID_FIELD', 'limit=101'],
    ['INVALID_FIELD', 'offset=-1'],
    ['INVALID_AID', 'created_by=x'],
    ['INVALID_PARENT_ID', 'parent_id=x'],
    ['INVALID_WORKSPACE_ID', 'workspace_id=x'],
  ];

  test.each(faults)('refuses with %s ?%s', async (code, query) => {
    expect(refusal(await world.call(ann, `GET /tasks?${query}`))).toEqual(refused(code));
  });
});

test('GET /tasks/{id} shows a task with its claims, subtasks and messages', async () => {
  const id = await create({ max_claims: 2 });
  const made = await claim('bob', id, { message: 'With pleasure', eta_minutes: 43_200 });
  const subtask = await create({ parent_id: id });
  await call('bob', '/message', { task_id: id, content: 'Which white?', msg_type: 'question', metadata: { shade: 3 } });
  const { task, claims, subtasks, messages } = await details(id);
  expect(task).toEqual({ ...fresh(ann), id, max_claims: 2, claims_count: 1, subtasks_count: 1 });
  expect(claims).toEqual([made.body.claim]);
  expect(subtasks).toMatchObject([{ id: subtask, parent_id: id }]);
  const message = { id: uuid, task_id: id, created_at: time };
  const own = { ...message, sender_aid: null, sender_name: 'acsp', msg_type: 'system', content: text };
  expect(messages).toEqual([
    { ...own, metadata: { event: 'task.created', actor_aid: ann.aid } },
    { ...own, metadata: { event: 'task.claim_pending', actor_aid: bob.aid, comment: 'With pleasure' } },
    { ...message, sender_aid: bob.aid, sender_name: 'Bob', msg_type: 'question', content: 'Which white?', metadata: { shade: 3 } },
  ]);
  expect(refusal(await world.call(ann, `GET /tasks/${nowhere}`))).toEqual(refused('TASK_NOT_FOUND'));
  expect(refusal(await world.call(ann, 'GET /tasks/7'))).toEqual(refused('INVALID_TASK_ID'));
});

describe('POST /tasks/claim', () => {
  test('assigns at once where one claim is all it takes', async () => {
    const id = await create();
    expect(plain(await claim('bob', id, { message: 'Mine', eta_minutes: 1 }))).toEqual({
      status: 200,
      body: {
        claim: {
          id: uuid,
          task_id: id,
          agent_aid: bob.aid,
          agent_name: 'Bob',
          status: 'accepted',
          message: 'Mine',
          eta_minutes: 1,
          match_score: null,
          created_at: time,
          resolved_at: time,
        },
        task_status: 'claimed',
        message: text,
      },
    });
    expect((await details(id)).task).toMatchObject({ status: 'claimed', assigned_aid: bob.aid, assigned_name: 'Bob', claimed_at: time });
  });

  test('waits for the creator where it takes several', async () => {
    const { body } = await claim('bob', await create({ max_claims: 2 }));
    expect(body).toMatchObject({ claim: { status: 'pending', resolved_at: null, message: null, eta_minutes: null }, task_status: 'open' });
  });

  const faults: [code: ErrorCode, who: Who, id: () => Promise<string>, fields?: object][] = [
    ['INVALID_TASK_ID', 'bob', async () => '7'],
    ['INVALID_CONTENT', 'bob', () => create(), { message: 'x'.repeat(1025) }],
    ['INVALID_FIELD', 'bob', () => create(), { eta_minutes: 43_201 }],
    ['TASK_NOT_FOUND', 'bob', async () => nowhere],
    ['CANNOT_CLAIM_OWN', 'ann', () => create()],
    ['NOT_TARGET', 'bob', () => create({ target_aid: eve.aid })],
    ['TASK_NOT_OPEN', 'eve', () => taskIn('claimed')],
    ['ALREADY_CLAIMED', 'bob', () => taskIn('claimed')],
  ];

  test.each(faults)('refuses with %s %s', async (code, who, id, fields) => {
    expect(refusal(await claim(who, await id(), fields))).toEqual(refused(code));
  });

  test('has one winner; the losers are told that they lost', async () => {
    const id = await create();
    const runners = await Promise.all(Array.from({ length: 12 }, (_, i) => world.quickstart(`Runner ${i}`)));
    const answers = await Promise.all(runners.map((agent) => world.call(agent, 'POST /tasks/claim', { task_id: id })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const codes = new Set(answers.flatMap(({ body }) => body.code ?? []));
    expect([...codes].every((code) => code === 'TASK_ALREADY_ASSIGNED' || code === 'TASK_NOT_OPEN')).toBe(true);
    expect((await details(id)).task.claims_count).toBe(1);
  });
});

describe('POST /tasks/claims/resolve', () => {
  const resolve = (who: Who, task_id: string, claim_id: string, decision: string) => call(who, '/claims/resolve', { task_id, claim_id, decision });

  test('accepts one claim and rejects the others', async () => {
    const id = await create({ max_claims: 2 });
    const [one, other] = [(await claim('bob', id)).body.claim, (await claim('eve', id)).body.claim];
    const third = await world.quickstart('Third');
    expect(refusal(await world.call(third, 'POST /tasks/claim', { task_id: id }))).toEqual(refused('MAX_CLAIMS_REACHED'));
    expect(plain(await resolve('ann', id, one.id, 'accept'))).toEqual({
      status: 200,
      body: { claim: { ...one, status: 'accepted', resolved_at: time }, task_status: 'claimed', message: text },
    });
    const { task, claims } = await details(id);
    expect(task).toMatchObject({ status: 'claimed', assigned_aid: bob.aid, claims_count: 1 });
    expect(claims).toEqual([expect.objectContaining({ status: 'accepted' }), { ...other, status: 'rejected', resolved_at: time }]);
    expect(refusal(await resolve('ann', id, other.id, 'accept'))).toEqual(refused('INVALID_TRANSITION'));
  });

  test('rejects a claim and leaves the task open', async () => {
    const id = await create({ max_claims: 2 });
    const { body } = await claim('bob', id);
    expect((await resolve('ann', id, body.claim.id, 'reject')).body).toMatchObject({ claim: { status: 'rejected' }, task_status: 'open' });
    expect((await claim('bob', id)).status).toBe(200);
  });

  test('refuses others than the creator, and a claim that does not exist', async () => {
    const id = await create({ max_claims: 2 });
    const { body } = await claim('bob', id);
    expect(refusal(await resolve('bob', id, body.claim.id, 'accept'))).toEqual(refused('PERMISSION_DENIED'));
    expect(refusal(await resolve('ann', id, nowhere, 'accept'))).toEqual(refused('CLAIM_NOT_FOUND'));
    expect(refusal(await resolve('ann', nowhere, nowhere, 'accept'))).toEqual(refused('TASK_NOT_FOUND'));
    expect(refusal(await resolve('ann', id, body.claim.id, 'perhaps'))).toEqual(refused('INVALID_FIELD'));
  });
});

describe('POST /tasks/update', () => {
  const moves: [from: string, action: string, who: Who, to: string, then: object][] = [
    ['claimed', 'start', 'bob', 'in_progress', { started_at: time, assigned_aid: text }],
    ['open', 'cancel', 'ann', 'cancelled', { assigned_aid: null }],
    ['claimed', 'cancel', 'ann', 'cancelled', { assigned_aid: text }],
    ['claimed', 'unclaim', 'bob', 'open', { assigned_aid: null, assigned_name: null, claimed_at: null, claims_count: 0 }],
    ['review', 'approve', 'ann', 'done', { completed_at: time, assigned_aid: text, result_text: 'Painted' }],
    ['review', 'reject', 'ann', 'open', { assigned_aid: null, started_at: null, completed_at: null, claims_count: 0, result_text: 'Painted' }],
  ];

  test.each(moves)('from %s, %s by %s leads to %s', async (from, action, who, to, then) => {
    const id = await taskIn(from);
    expect(plain(await update(who, id, action, { comment: 'As agreed' }))).toEqual({ status: 200, body: { task_id: id, status: to, message: text } });
    const { task, messages } = await details(id);
    expect(task).toMatchObject({ status: to, ...then });
    expect(messages.at(-1)).toMatchObject({ msg_type: 'system', content: expect.stringContaining('As agreed'), metadata: { comment: 'As agreed' } });
  });

  test('ends the claim with the assignment', async () => {
    const [unclaimed, rejected] = [await taskIn('claimed'), await taskIn('review')];
    await update('bob', unclaimed, 'unclaim');
    await update('ann', rejected, 'reject');
    expect((await details(unclaimed)).claims).toMatchObject([{ status: 'withdrawn', resolved_at: time }]);
    expect((await details(rejected)).claims).toMatchObject([{ status: 'rejected', resolved_at: time }]);
    expect((await claim('bob', rejected)).status).toBe(200);
  });

  test('takes back an own pending claim', async () => {
    const id = await create({ max_claims: 2 });
    await claim('bob', id);
    expect((await update('bob', id, 'unclaim')).body.status).toBe('open');
    expect(await details(id)).toMatchObject({ task: { claims_count: 0 }, claims: [{ status: 'withdrawn' }] });
  });

  const faults: [code: ErrorCode, from: string, action: string, who: Who][] = [
    ['INVALID_ACTION', 'open', 'finish', 'ann'],
    ...(['start', 'unclaim'] as const).map((action): [ErrorCode, string, string, Who] => ['PERMISSION_DENIED', 'claimed', action, 'ann']),
    ...(['cancel', 'approve', 'reject'] as const).map((action): [ErrorCode, string, string, Who] => ['PERMISSION_DENIED', 'review', action, 'bob']),
    ...['in_progress', 'review', 'done', 'failed'].map((from): [ErrorCode, string, string, Who] => ['INVALID_TRANSITION', from, 'start', 'bob']),
    ...['in_progress', 'review', 'done', 'failed', 'cancelled'].map((from): [ErrorCode, string, string, Who] => ['INVALID_TRANSITION', from, 'cancel', 'ann']),
    ...['open', 'claimed', 'in_progress', 'done', 'failed', 'cancelled'].flatMap((from) =>
      ['approve', 'reject'].map((action): [ErrorCode, string, string, Who] => ['INVALID_TRANSITION', from, action, 'ann']),
    ),
    ...['in_progress', 'review', 'done', 'failed'].map((from): [ErrorCode, string, string, Who] => ['INVALID_TRANSITION', from, 'unclaim', 'bob']),
  ];

  test.each(faults)('refuses with %s from %s, %s by %s', async (code, from, action, who) => {
    expect(refusal(await update(who, await taskIn(from), action))).toEqual(refused(code));
  });

  test('refuses a task that does not exist', async () => {
    expect(refusal(await update('ann', nowhere, 'cancel'))).toEqual(refused('TASK_NOT_FOUND'));
    expect(refusal(await update('ann', 'x', 'cancel'))).toEqual(refused('INVALID_TASK_ID'));
  });
});

describe('POST /tasks/submit', () => {
  test.each(['claimed', 'in_progress'])('from %s leads to review, or to failed', async (from) => {
    const [good, bad] = [await taskIn(from), await taskIn(from)];
    expect(plain(await submit('bob', good, { result: { coats: 2 } }))).toEqual({ status: 200, body: { task_id: good, status: 'review', message: text } });
    expect((await details(good)).task).toMatchObject({ result_text: 'Painted', result: { coats: 2 }, completed_at: null });
    expect((await submit('bob', bad, { failed: true, failure_reason: 'Rain' })).body.status).toBe('failed');
    expect((await details(bad)).task).toMatchObject({ status: 'failed', failure_reason: 'Rain', completed_at: time });
  });

  const faults: [code: ErrorCode, from: string, who: Who, fields: object][] = [
    ['MISSING_RESULT_TEXT', 'claimed', 'bob', { result_text: undefined }],
    ['INVALID_RESULT_TEXT', 'claimed', 'bob', { result_text: '<p> </p>' }],
    ['INVALID_RESULT_TEXT', 'claimed', 'bob', { result_text: 'x'.repeat(4097) }],
    ['INVALID_RESULT', 'claimed', 'bob', { result: [1] }],
    ['INVALID_FIELD', 'claimed', 'bob', { failed: 'yes' }],
    ['NOT_ASSIGNED', 'claimed', 'ann', {}],
    ['NOT_ASSIGNED', 'open', 'bob', {}],
    ...['review', 'done', 'failed'].map((from): [ErrorCode, string, Who, object] => ['INVALID_STATUS', from, 'bob', {}]),
  ];

  test.each(faults)('refuses with %s from %s by %s where it is %j', async (code, from, who, fields) => {
    expect(refusal(await submit(who, await taskIn(from), fields))).toEqual(refused(code));
  });

  test('refuses a task that does not exist', async () => {
    expect(refusal(await submit('bob', nowhere))).toEqual(refused('TASK_NOT_FOUND'));
    expect(refusal(await submit('bob', 'x'))).toEqual(refused('INVALID_TASK_ID'));
  });
});

describe('POST /tasks/delegate', () => {
  const delegate = (who: Who, fields: object) => call(who, '/delegate', { ...texts, ...fields });

  test('makes a subtask of the delegating agent, under the parent', async () => {
    const parent_id = await create({ workspace_id: nowhere, group_id: nowhere });
    await claim('bob', parent_id);
    const given = { requirements: ['a ladder'], target_aid: eve.aid, priority: 'high', metadata: { a: 1 } };
    expect(plain(await delegate('bob', { parent_id, ...given }))).toEqual({
      status: 201,
      body: { task: { ...fresh(bob), parent_id, ...given, workspace_id: nowhere, group_id: nowhere } },
    });
    const { task, subtasks } = await details(parent_id);
    expect(task).toMatchObject({ status: 'claimed', subtasks_count: 1 });
    expect(subtasks).toMatchObject([{ creator_aid: bob.aid }]);
  });

  const faults: [code: ErrorCode, who: Who, parent: () => Promise<string | undefined>, fields?: object][] = [
    ['INVALID_PARENT_ID', 'ann', async () => '7'],
    ['INVALID_PARENT_ID', 'ann', async () => undefined],
    ['MISSING_TITLE', 'ann', () => create(), { title: undefined }],
    ['MISSING_DESCRIPTION', 'ann', () => create(), { description: undefined }],
    ['INVALID_TARGET_AID', 'ann', () => create(), { target_aid: 'x' }],
    ['AID_NOT_FOUND', 'ann', () => create(), { target_aid: stranger().aid }],
    ['PERMISSION_DENIED', 'eve', () => create()],
    ['PARENT_NOT_FOUND', 'ann', async () => nowhere],
    ...['done', 'failed', 'cancelled'].map((status): [ErrorCode, Who, () => Promise<string>] => ['PARENT_CLOSED', 'ann', () => taskIn(status)]),
    ['MAX_DEPTH_EXCEEDED', 'ann', async () => create({ parent_id: await create({ parent_id: await create() }) })],
  ];

  test.each(faults)('refuses with %s %s', async (code, who, parent, fields) => {
    expect(refusal(await delegate(who, { parent_id: await parent(), ...fields }))).toEqual(refused(code));
  });
});

describe('POST /tasks/message', () => {
  const write = (who: Who, task_id: string, fields: object = {}) => call(who, '/message', { task_id, content: 'How is it going?', ...fields });

  test('answers 201 to creator, assigned agent and claimers', async () => {
    const [claimed, pending] = [await taskIn('claimed'), await create({ max_claims: 2 })];
    await claim('eve', pending);
    expect(plain(await write('ann', claimed))).toEqual({
      status: 201,
      body: { id: uuid, task_id: claimed, sender_aid: ann.aid, msg_type: 'comment', content: 'How is it going?', created_at: time },
    });
    for (const msg_type of ['status_update', 'question', 'result']) {
      expect((await write('bob', claimed, { msg_type, metadata: { a: 1 } })).body.msg_type).toBe(msg_type);
    }
    expect((await write('eve', pending)).status).toBe(201);
  });

  const faults: [code: ErrorCode, who: Who, fields: object][] = [
    ['INVALID_TASK_ID', 'ann', { task_id: 'x' }],
    ['MISSING_CONTENT', 'ann', { content: undefined }],
    ['INVALID_CONTENT', 'ann', { content: '  ' }],
    ['INVALID_CONTENT', 'ann', { content: 'x'.repeat(4097) }],
    ['INVALID_METADATA', 'ann', { metadata: [] }],
    ['INVALID_FIELD', 'ann', { msg_type: 'system' }],
    ['PERMISSION_DENIED', 'eve', {}],
    ['TASK_NOT_FOUND', 'ann', { task_id: nowhere }],
  ];

  test.each(faults)('refuses with %s by %s where it is %j', async (code, who, fields) => {
    expect(refusal(await write(who, await taskIn('claimed'), fields))).toEqual(refused(code));
  });

  test.each(['done', 'failed', 'cancelled'])('refuses with TASK_CLOSED where the task is %s', async (status) => {
    expect(refusal(await write('ann', await taskIn(status)))).toEqual(refused('TASK_CLOSED'));
  });
});
