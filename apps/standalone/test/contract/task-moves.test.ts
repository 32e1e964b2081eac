import type { ErrorCode } from '@acsp/errors';
import { plain, refusal, refused } from './answers.js';
import { text, time } from './shapes.js';
import { nowhere, startTaskCast, type TaskCast, type Who } from './task-cast.js';

// The documented moves of a task, and what is no move.

let cast: TaskCast;

beforeAll(async () => {
  cast = await startTaskCast();
});
afterAll(() => cast[Symbol.asyncDispose]());

describe('POST /tasks/update', () => {
  const back = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null, claims_count: 0 };
  const moves = [
    {
      from: 'claimed',
      action: 'start',
      who: 'bob',
      after: { status: 'in_progress', started_at: time, assigned_aid: text },
    },
    { from: 'open', action: 'cancel', who: 'ann', after: { status: 'cancelled', assigned_aid: null } },
    {
      from: 'claimed',
      action: 'cancel',
      who: 'ann',
      after: { status: 'cancelled', assigned_aid: text, claims_count: 1 },
    },
    { from: 'claimed', action: 'unclaim', who: 'bob', after: { status: 'open', ...back } },
    {
      from: 'review',
      action: 'approve',
      who: 'ann',
      after: { status: 'done', completed_at: time, assigned_aid: text },
    },
    { from: 'review', action: 'reject', who: 'ann', after: { status: 'open', ...back, result_text: 'Painted' } },
  ] as const;

  test.each(moves)('from $from, $action by $who leads to $after.status', async ({ from, action, who, after }) => {
    const id = await cast.taskIn(from);
    expect(plain(await cast.update(who, id, action, { comment: 'As agreed' }))).toEqual({
      status: 200,
      body: { task_id: id, status: after.status, message: text },
    });
    const { task, messages } = await cast.details(id);
    expect(task).toMatchObject(after);
    expect(messages.at(-1)).toMatchObject({
      msg_type: 'system',
      content: expect.stringContaining('As agreed'),
      metadata: { comment: 'As agreed' },
    });
  });

  test('ends the claim with the assignment', async () => {
    const [unclaimed, rejected] = [await cast.taskIn('claimed'), await cast.taskIn('review')];
    await cast.update('bob', unclaimed, 'unclaim');
    await cast.update('ann', rejected, 'reject');
    expect((await cast.details(unclaimed)).claims).toMatchObject([{ status: 'withdrawn', resolved_at: time }]);
    expect((await cast.details(rejected)).claims).toMatchObject([{ status: 'rejected', resolved_at: time }]);
    expect((await cast.claim('bob', rejected)).status).toBe(200);
  });

  test('takes back an own pending claim', async () => {
    const id = await cast.create({ max_claims: 2 });
    await cast.claim('bob', id);
    expect((await cast.update('bob', id, 'unclaim')).body.status).toBe('open');
    expect(await cast.details(id)).toMatchObject({ task: { claims_count: 0 }, claims: [{ status: 'withdrawn' }] });
  });

  const faults: [code: ErrorCode, from: string, action: string, who: Who][] = [
    ['INVALID_ACTION', 'open', 'finish', 'ann'],
    ...(['start', 'unclaim'] as const).map((action): [ErrorCode, string, string, Who] => [
      'PERMISSION_DENIED',
      'claimed',
      action,
      'ann',
    ]),
    ...(['cancel', 'approve', 'reject'] as const).map((action): [ErrorCode, string, string, Who] => [
      'PERMISSION_DENIED',
      'review',
      action,
      'bob',
    ]),
    ...['in_progress', 'review', 'done', 'failed'].map((from): [ErrorCode, string, string, Who] => [
      'INVALID_TRANSITION',
      from,
      'start',
      'bob',
    ]),
    ...['in_progress', 'review', 'done', 'failed', 'cancelled'].map((from): [ErrorCode, string, string, Who] => [
      'INVALID_TRANSITION',
      from,
      'cancel',
      'ann',
    ]),
    ...['open', 'claimed', 'in_progress', 'done', 'failed', 'cancelled'].flatMap((from) =>
      ['approve', 'reject'].map((action): [ErrorCode, string, string, Who] => [
        'INVALID_TRANSITION',
        from,
        action,
        'ann',
      ]),
    ),
    ...['in_progress', 'review', 'done', 'failed'].map((from): [ErrorCode, string, string, Who] => [
      'INVALID_TRANSITION',
      from,
      'unclaim',
      'bob',
    ]),
  ];

  test.each(faults)('refuses with %s from %s, %s by %s', async (code, from, action, who) => {
    expect(refusal(await cast.update(who, await cast.taskIn(from), action))).toEqual(refused(code));
  });

  test('refuses a task that does not exist', async () => {
    expect(refusal(await cast.update('ann', nowhere, 'cancel'))).toEqual(refused('TASK_NOT_FOUND'));
    expect(refusal(await cast.update('ann', 'x', 'cancel'))).toEqual(refused('INVALID_TASK_ID'));
  });
});

describe('POST /tasks/submit', () => {
  test.each(['claimed', 'in_progress'])('from %s leads to review, or to failed', async (from) => {
    const [good, bad] = [await cast.taskIn(from), await cast.taskIn(from)];
    expect(plain(await cast.submit('bob', good, { result: { coats: 2 } }))).toEqual({
      status: 200,
      body: { task_id: good, status: 'review', message: text },
    });
    expect((await cast.details(good)).task).toMatchObject({
      result_text: 'Painted',
      result: { coats: 2 },
      completed_at: null,
    });
    expect((await cast.submit('bob', bad, { failed: true, failure_reason: 'Rain' })).body.status).toBe('failed');
    expect((await cast.details(bad)).task).toMatchObject({
      status: 'failed',
      failure_reason: 'Rain',
      completed_at: time,
    });
  });

  const faults: [code: ErrorCode, from: string, who: Who, fields: object][] = [
    ['MISSING_RESULT_TEXT', 'claimed', 'bob', { result_text: undefined }],
    ['INVALID_RESULT_TEXT', 'claimed', 'bob', { result_text: '<p> </p>' }],
    ['INVALID_RESULT_TEXT', 'claimed', 'bob', { result_text: 'x'.repeat(4097) }],
    ['INVALID_RESULT', 'claimed', 'bob', { result: [1] }],
    ['INVALID_FIELD', 'claimed', 'bob', { failed: 'yes' }],
    ['NOT_ASSIGNED', 'claimed', 'ann', {}],
    ['NOT_ASSIGNED', 'open', 'bob', {}],
    ...['review', 'done', 'failed'].map((from): [ErrorCode, string, Who, object] => [
      'INVALID_STATUS',
      from,
      'bob',
      {},
    ]),
  ];

  test.each(faults)('refuses with %s from %s by %s where it is %j', async (code, from, who, fields) => {
    expect(refusal(await cast.submit(who, await cast.taskIn(from), fields))).toEqual(refused(code));
  });

  test('refuses a task that does not exist', async () => {
    expect(refusal(await cast.submit('bob', nowhere))).toEqual(refused('TASK_NOT_FOUND'));
    expect(refusal(await cast.submit('bob', 'x'))).toEqual(refused('INVALID_TASK_ID'));
  });
});
