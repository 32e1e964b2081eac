import type { ErrorCode } from '@acsp/errors';
import { stranger } from '../harness.js';
import { plain, refusal, refused } from './answers.js';
import { text, time, uuid } from './shapes.js';
import { fresh, nowhere, startTaskCast, type TaskCast, texts, type Who } from './task-cast.js';

// The documented answers and errors of claiming, delegating and talking about tasks.

let cast: TaskCast;

beforeAll(async () => {
  cast = await startTaskCast();
});
afterAll(() => cast[Symbol.asyncDispose]());

describe('POST /tasks/claim', () => {
  test('assigns at once where one claim is all it takes', async () => {
    const id = await cast.create();
    expect(plain(await cast.claim('bob', id, { message: 'Mine', eta_minutes: 1 }))).toEqual({
      status: 200,
      body: {
        claim: {
          id: uuid,
          task_id: id,
          agent_aid: cast.agents.bob.aid,
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
    expect((await cast.details(id)).task).toMatchObject({
      status: 'claimed',
      assigned_aid: cast.agents.bob.aid,
      assigned_name: 'Bob',
      claimed_at: time,
    });
  });

  test('waits for the creator where it takes several', async () => {
    const { body } = await cast.claim('bob', await cast.create({ max_claims: 2 }));
    expect(body).toMatchObject({
      claim: { status: 'pending', resolved_at: null, message: null, eta_minutes: null },
      task_status: 'open',
    });
  });

  const faults: [code: ErrorCode, who: Who, id: () => Promise<string>, fields?: object][] = [
    ['INVALID_TASK_ID', 'bob', async () => '7'],
    ['INVALID_CONTENT', 'bob', () => cast.create(), { message: 'x'.repeat(1025) }],
    ['INVALID_FIELD', 'bob', () => cast.create(), { eta_minutes: 43_201 }],
    ['TASK_NOT_FOUND', 'bob', async () => nowhere],
    ['CANNOT_CLAIM_OWN', 'ann', () => cast.create()],
    ['NOT_TARGET', 'bob', () => cast.create({ target_aid: cast.agents.eve.aid })],
    ['TASK_NOT_OPEN', 'eve', () => cast.taskIn('claimed')],
    ['ALREADY_CLAIMED', 'bob', () => cast.taskIn('claimed')],
  ];

  test.each(faults)('refuses with %s %s', async (code, who, id, fields = {}) => {
    expect(refusal(await cast.claim(who, await id(), fields))).toEqual(refused(code));
  });

  test('has one winner; the losers are told that they lost', async () => {
    const id = await cast.create();
    const runners = await Promise.all(Array.from({ length: 12 }, (_, i) => cast.world.quickstart(`Runner ${i}`)));
    const answers = await Promise.all(
      runners.map((agent) => cast.world.call(agent, 'POST /tasks/claim', { task_id: id })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const codes = new Set(answers.flatMap(({ body }) => body.code ?? []));
    expect([...codes].every((code) => code === 'TASK_ALREADY_ASSIGNED' || code === 'TASK_NOT_OPEN')).toBe(true);
    expect((await cast.details(id)).task.claims_count).toBe(1);
  });
});

describe('POST /tasks/claims/resolve', () => {
  const resolve = (who: Who, task_id: string, claim_id: string, decision: string) =>
    cast.call(who, '/claims/resolve', { task_id, claim_id, decision });

  test('accepts one claim and rejects the others', async () => {
    const id = await cast.create({ max_claims: 2 });
    const [one, other] = [(await cast.claim('bob', id)).body.claim, (await cast.claim('eve', id)).body.claim];
    const third = await cast.world.quickstart('Third');
    expect(refusal(await cast.world.call(third, 'POST /tasks/claim', { task_id: id }))).toEqual(
      refused('MAX_CLAIMS_REACHED'),
    );
    expect(plain(await resolve('ann', id, one.id, 'accept'))).toEqual({
      status: 200,
      body: { claim: { ...one, status: 'accepted', resolved_at: time }, task_status: 'claimed', message: text },
    });
    const { task, claims } = await cast.details(id);
    expect(task).toMatchObject({ status: 'claimed', assigned_aid: cast.agents.bob.aid, claims_count: 1 });
    expect(claims).toEqual([
      expect.objectContaining({ status: 'accepted' }),
      { ...other, status: 'rejected', resolved_at: time },
    ]);
    expect(refusal(await resolve('ann', id, other.id, 'accept'))).toEqual(refused('INVALID_TRANSITION'));
  });

  test('rejects a claim and leaves the task open', async () => {
    const id = await cast.create({ max_claims: 2 });
    const { body } = await cast.claim('bob', id);
    expect((await resolve('ann', id, body.claim.id, 'reject')).body).toMatchObject({
      claim: { status: 'rejected' },
      task_status: 'open',
    });
    expect((await cast.claim('bob', id)).status).toBe(200);
  });

  test('refuses others than the creator, and a claim that does not exist', async () => {
    const id = await cast.create({ max_claims: 2 });
    const { body } = await cast.claim('bob', id);
    expect(refusal(await resolve('bob', id, body.claim.id, 'accept'))).toEqual(refused('PERMISSION_DENIED'));
    expect(refusal(await resolve('ann', id, nowhere, 'accept'))).toEqual(refused('CLAIM_NOT_FOUND'));
    expect(refusal(await resolve('ann', nowhere, nowhere, 'accept'))).toEqual(refused('TASK_NOT_FOUND'));
    expect(refusal(await resolve('ann', id, body.claim.id, 'perhaps'))).toEqual(refused('INVALID_FIELD'));
  });
});

describe('POST /tasks/delegate', () => {
  const delegate = (who: Who, fields: object) => cast.call(who, '/delegate', { ...texts, ...fields });

  test('makes a subtask of the delegating agent, under the parent', async () => {
    const parent_id = await cast.create({ workspace_id: nowhere, group_id: nowhere });
    await cast.claim('bob', parent_id);
    const given = { requirements: ['a ladder'], target_aid: cast.agents.eve.aid, priority: 'high', metadata: { a: 1 } };
    expect(plain(await delegate('bob', { parent_id, ...given }))).toEqual({
      status: 201,
      body: { task: { ...fresh(cast.agents.bob), parent_id, ...given, workspace_id: nowhere, group_id: nowhere } },
    });
    const { task, subtasks } = await cast.details(parent_id);
    expect(task).toMatchObject({ status: 'claimed', subtasks_count: 1 });
    expect(subtasks).toMatchObject([{ creator_aid: cast.agents.bob.aid }]);
  });

  const faults: [code: ErrorCode, who: Who, parent: () => Promise<string | undefined>, fields?: object][] = [
    ['INVALID_PARENT_ID', 'ann', async () => '7'],
    ['INVALID_PARENT_ID', 'ann', async () => undefined],
    ['MISSING_TITLE', 'ann', () => cast.create(), { title: undefined }],
    ['MISSING_DESCRIPTION', 'ann', () => cast.create(), { description: undefined }],
    ['INVALID_TARGET_AID', 'ann', () => cast.create(), { target_aid: 'x' }],
    ['AID_NOT_FOUND', 'ann', () => cast.create(), { target_aid: stranger().aid }],
    ['PERMISSION_DENIED', 'eve', () => cast.create()],
    ['PARENT_NOT_FOUND', 'ann', async () => nowhere],
    ...['done', 'failed', 'cancelled'].map((status): [ErrorCode, Who, () => Promise<string>] => [
      'PARENT_CLOSED',
      'ann',
      () => cast.taskIn(status),
    ]),
    [
      'MAX_DEPTH_EXCEEDED',
      'ann',
      async () => cast.create({ parent_id: await cast.create({ parent_id: await cast.create() }) }),
    ],
  ];

  test.each(faults)('refuses with %s %s', async (code, who, parent, fields = {}) => {
    expect(refusal(await delegate(who, { parent_id: await parent(), ...fields }))).toEqual(refused(code));
  });
});

describe('POST /tasks/message', () => {
  const write = (who: Who, task_id: string, fields: object = {}) =>
    cast.call(who, '/message', { task_id, content: 'How is it going?', ...fields });

  test('answers 201 to creator, assigned agent and claimers', async () => {
    const [claimed, pending] = [await cast.taskIn('claimed'), await cast.create({ max_claims: 2 })];
    await cast.claim('eve', pending);
    expect(plain(await write('ann', claimed))).toEqual({
      status: 201,
      body: {
        id: uuid,
        task_id: claimed,
        sender_aid: cast.agents.ann.aid,
        msg_type: 'comment',
        content: 'How is it going?',
        created_at: time,
      },
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
    expect(refusal(await write(who, await cast.taskIn('claimed'), fields))).toEqual(refused(code));
  });

  test.each(['done', 'failed', 'cancelled'])('refuses with TASK_CLOSED where the task is %s', async (status) => {
    expect(refusal(await write('ann', await cast.taskIn(status)))).toEqual(refused('TASK_CLOSED'));
  });
});
