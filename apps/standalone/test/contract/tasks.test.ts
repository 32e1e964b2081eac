import type { ErrorCode } from '@acsp/errors';
import type { TestAgent } from '../harness.js';
import { plain, refusal, refused } from './answers.js';
import { text, time, uuid } from './shapes.js';
import { fresh, nowhere, startTaskCast, type TaskCast, texts } from './task-cast.js';

// The documented answers and errors of creating, listing and showing tasks.

let cast: TaskCast;

beforeAll(async () => {
  cast = await startTaskCast();
});
afterAll(() => cast[Symbol.asyncDispose]());

describe('POST /tasks', () => {
  test('answers 201 with every field, and its defaults', async () => {
    const answer = await cast.call('ann', '', texts);
    expect(plain(answer)).toEqual({ status: 201, body: { task: fresh(cast.agents.ann) } });
    const { created_at, expires_at } = answer.body.task;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(1440 * 60_000);
  });

  test('keeps what is given', async () => {
    const given = {
      requirements: ['a brush'],
      tags: ['garden'],
      priority: 'urgent',
      deadline: '2030-01-01T12:00:00.000Z',
      target_aid: cast.agents.bob.aid,
      max_claims: 100,
      workspace_id: nowhere,
      group_id: nowhere,
      metadata: { colour: 'white' },
    };
    const { body } = await cast.call('ann', '', { ...texts, ...given, aid: cast.agents.ann.aid, ttl_minutes: 43_200 });
    expect(body.task).toEqual({ ...fresh(cast.agents.ann), ...given });
    expect((await cast.details(body.task.id)).task).toEqual(body.task);
  });

  test('puts a subtask under its parent, with the parent’s workspace and group', async () => {
    const parent_id = await cast.create({ workspace_id: nowhere, group_id: nowhere });
    const { body } = await cast.call('ann', '', { ...texts, parent_id });
    expect(body.task).toMatchObject({ parent_id, workspace_id: nowhere, group_id: nowhere });
    expect((await cast.details(parent_id)).task.subtasks_count).toBe(1);
  });

  const faults: [code: ErrorCode, change: object][] = [
    ['MISSING_TITLE', { title: undefined }],
    ['MISSING_DESCRIPTION', { description: null }],
    ['INVALID_CONTENT', { title: '<b></b>' }],
    ['INVALID_CONTENT', { description: 'x'.repeat(4097) }],
    ['INVALID_REQUIREMENTS', { requirements: Array.from({ length: 21 }, (_, i) => `${i}`) }],
    ['INVALID_TAGS', { tags: 'garden' }],
    ['INVALID_DEADLINE', { deadline: 'tomorrow' }],
    ['INVALID_DEADLINE', { deadline: '0000-01-01' }],
    ['INVALID_DEADLINE', { deadline: '9999-12-31T23:59:59-14:00' }],
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
    expect(refusal(await cast.call('ann', '', { ...texts, ...change }))).toEqual(refused(code));
  });

  test('names every field that is wrong, and says what is wrong with it', async () => {
    const { body } = await cast.call('ann', '', { title: 7, max_claims: 101, tags: [''] });
    expect(body.errors).toEqual([
      { field: 'title', message: 'must be a string' },
      { field: 'description', message: 'required' },
      { field: 'tags.0', message: 'must not be empty' },
      { field: 'max_claims', message: 'at most 100' },
    ]);
  });

  test('refuses a caller without a key, or with a wrong one', async () => {
    expect(refusal(await cast.world.call(undefined, 'POST /tasks', texts))).toEqual(refused('AUTH_REQUIRED'));
    expect(refusal(await cast.world.call({ ...cast.agents.ann, loginKey: 'nk_wrong' }, 'POST /tasks', texts))).toEqual(
      refused('INVALID_LOGIN_KEY'),
    );
  });

  test('refuses a fourth level, a parent of others, and one that is closed', async () => {
    const root = await cast.create();
    const second = await cast.create({ parent_id: root });
    const third = await cast.create({ parent_id: second });
    expect(refusal(await cast.call('ann', '', { ...texts, parent_id: third }))).toEqual(refused('MAX_DEPTH_EXCEEDED'));
    expect(refusal(await cast.call('eve', '', { ...texts, parent_id: root }))).toEqual(refused('PERMISSION_DENIED'));
    expect(refusal(await cast.call('ann', '', { ...texts, parent_id: await cast.taskIn('cancelled') }))).toEqual(
      refused('PARENT_CLOSED'),
    );
  });
});

describe('GET /tasks', () => {
  let creator: TestAgent;
  const list = async (query: string) =>
    plain(await cast.world.call(creator, `GET /tasks?created_by=${creator.aid}&${query}`));
  const titles = async (query: string) => (await list(query)).body.tasks.map(({ title }: { title: string }) => title);
  let first: string;

  beforeAll(async () => {
    creator = await cast.world.quickstart('Lister');
    const make = async (title: string, fields: object) =>
      (await cast.world.call(creator, 'POST /tasks', { title, description: 'To be listed', ...fields })).body.task.id;
    first = await make('a', { priority: 'low', deadline: '2030-03-01T00:00:00Z' });
    await make('b', { priority: 'urgent', workspace_id: nowhere });
    await make('c', { deadline: '2030-02-01T00:00:00Z' });
    await make('a1', { parent_id: first });
    await cast.claim('bob', await make('d', {}));
  });

  test('answers with the documented fields', async () => {
    const { title: _title, description: _description, ...summary } = fresh(creator);
    const shown = [
      'id',
      'creator_aid',
      'creator_name',
      'parent_id',
      'requirements',
      'tags',
      'status',
      'priority',
      'deadline',
      'expires_at',
      'assigned_aid',
      'claims_count',
      'subtasks_count',
      'created_at',
    ];
    const expected = Object.fromEntries(Object.entries(summary).filter(([name]) => shown.includes(name)));
    const { status, body } = await list('limit=1');
    const task = { ...expected, title: 'c', description: 'To be listed', deadline: '2030-02-01T00:00:00.000Z' };
    const page = { tasks: [task], total: 3, has_more: true, next_cursor: expect.any(String) };
    expect({ status, body }).toEqual({ status: 200, body: page });
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
    expect(await titles(`status=claimed&assigned_to=${cast.agents.bob.aid}`)).toEqual(['d']);
    expect(await titles(`status=claimed&assigned_to=${cast.agents.eve.aid}`)).toEqual([]);
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
    expect(refusal(await cast.world.call(cast.agents.ann, `GET /tasks?${query}`))).toEqual(refused(code));
  });
});

test('GET /tasks/{id} shows a task with its claims, subtasks and messages', async () => {
  const id = await cast.create({ max_claims: 2 });
  const made = await cast.claim('bob', id, { message: 'With pleasure', eta_minutes: 43_200 });
  const subtask = await cast.create({ parent_id: id });
  await cast.call('bob', '/message', {
    task_id: id,
    content: 'Which white?',
    msg_type: 'question',
    metadata: { shade: 3 },
  });
  const { task, claims, subtasks, messages } = await cast.details(id);
  expect(task).toEqual({ ...fresh(cast.agents.ann), id, max_claims: 2, claims_count: 1, subtasks_count: 1 });
  expect(claims).toEqual([made.body.claim]);
  expect(subtasks).toMatchObject([{ id: subtask, parent_id: id }]);
  const message = { id: uuid, task_id: id, created_at: time };
  const own = { ...message, sender_aid: null, sender_name: 'acsp', msg_type: 'system', content: text };
  expect(messages).toEqual([
    { ...own, metadata: { event: 'task.created', actor_aid: cast.agents.ann.aid } },
    { ...own, metadata: { event: 'task.claim_pending', actor_aid: cast.agents.bob.aid, comment: 'With pleasure' } },
    {
      ...message,
      sender_aid: cast.agents.bob.aid,
      sender_name: 'Bob',
      msg_type: 'question',
      content: 'Which white?',
      metadata: { shade: 3 },
    },
  ]);
  expect(refusal(await cast.world.call(cast.agents.ann, `GET /tasks/${nowhere}`))).toEqual(refused('TASK_NOT_FOUND'));
  expect(refusal(await cast.world.call(cast.agents.ann, 'GET /tasks/7'))).toEqual(refused('INVALID_TASK_ID'));
});
