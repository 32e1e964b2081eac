import {
  at,
  by,
  claimOf,
  creator,
  holding,
  later,
  outcome,
  outsider,
  statuses,
  taskAs,
  worker,
} from '../../test/sample-tasks.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { applied } from './change.js';
import { type Action, actions, decideAction, decideSubmit, refuseMessage, refuseSubtask } from './decide.js';
import { statusAt } from './state.js';

type Who = 'creator' | 'worker' | 'outsider';
const agents = { creator, worker, outsider };
const update = (status: TaskStatus, action: Action, who: Who, comment: string | null = null) =>
  outcome(taskAs(status), decideAction(taskAs(status), { ...by(agents[who]), action, comment }));

/** Interface 3.1: who may make a move, and to which status it leads from which. */
const moves: Record<Action, { who: Who; to: Partial<Record<TaskStatus, TaskStatus>> }> = {
  start: { who: 'worker', to: { claimed: 'in_progress' } },
  cancel: { who: 'creator', to: { open: 'cancelled', claimed: 'cancelled' } },
  unclaim: { who: 'worker', to: { claimed: 'open' } },
  approve: { who: 'creator', to: { review: 'done' } },
  reject: { who: 'creator', to: { review: 'open' } },
};

function expected(status: TaskStatus, action: Action, who: Who): string {
  const { who: rightful, to } = moves[action];
  const assigned = taskAs(status).assigned_aid !== null;
  if (who !== rightful || (who === 'worker' && !assigned)) return 'PERMISSION_DENIED';
  return to[status] ?? 'INVALID_TRANSITION';
}

describe.each(actions)('%s', (action) => {
  test.each(
    statuses.flatMap((status) => (['creator', 'worker', 'outsider'] as const).map((who) => [status, who] as const)),
  )('of a task that is %s by its %s', (status, who) =>
    expect(update(status, action, who).result).toBe(expected(status, action, who)),
  );

  test('is refused once the task has run out', () => {
    const { who } = moves[action];
    const ranOut = { ...taskAs('claimed'), expires_at: at };
    const decision = decideAction(ranOut, { ...by(agents[who]), action, comment: null });
    expect(decision).toEqual({ refused: 'INVALID_TRANSITION' });
  });
});

describe('the effects of a move', () => {
  test.each([
    ['start', 'claimed', 'worker', { event: 'task.started', says: 'Worker started the task: Now', claim_id: null }],
    [
      'cancel',
      'claimed',
      'creator',
      { event: 'task.cancelled', says: 'Creator cancelled the task: Now', claim_id: null },
    ],
    [
      'unclaim',
      'claimed',
      'worker',
      { event: 'task.unclaimed', says: 'Worker gave the task back: Now', claim_id: 'held' },
    ],
    [
      'approve',
      'review',
      'creator',
      { event: 'task.approved', says: 'Creator approved the result: Now', claim_id: null },
    ],
    [
      'reject',
      'review',
      'creator',
      { event: 'task.rejected', says: 'Creator rejected the result: Now', claim_id: 'held' },
    ],
  ] as const)('%s says who did it and why', (action, status, who, told) => {
    const { change } = update(status, action, who, 'Now');
    expect(change).toMatchObject({ ...told, comment: 'Now', actor: agents[who].aid });
  });

  const kept = { assigned_aid: worker.aid, assigned_name: 'Worker', claims: [{ id: 'held', status: 'accepted' }] };
  const free = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null, claims: [] };
  test.each([
    ['start', 'claimed', 'worker', { ...kept, started_at: at }],
    ['cancel', 'claimed', 'creator', { ...kept, completed_at: null }],
    ['approve', 'review', 'creator', { ...kept, completed_at: at }],
    ['unclaim', 'claimed', 'worker', { ...free, expires_at: later }],
    ['reject', 'review', 'creator', { ...free, expires_at: later, completed_at: null }],
  ] as const)('%s leaves assignment, claims and times as they should be', (action, status, who, left) => {
    expect(update(status, action, who).after).toMatchObject({ ...left, version: taskAs(status).version + 1 });
  });

  test('a task that is rejected after its time lives on for its ttl', () => {
    const task = { ...taskAs('review'), expires_at: at, ttl_minutes: 90 };
    const { after } = outcome(task, decideAction(task, { ...by(creator), action: 'reject', comment: null }));
    expect(after?.expires_at).toEqual(new Date(at.getTime() + 90 * 60_000));
  });

  test('cancelling rejects every pending claim', () => {
    const task = { ...taskAs('open'), max_claims: 3, claims: [claimOf(worker), claimOf(outsider)] };
    const { change, after } = outcome(task, decideAction(task, { ...by(creator), action: 'cancel', comment: null }));
    expect(change?.moved?.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(after?.claims).toEqual([]);
  });

  test('an agent that is not assigned takes back its own pending claim, and no other', () => {
    const task = { ...taskAs('open'), max_claims: 3, claims: [claimOf(worker, 'mine'), claimOf(outsider, 'other')] };
    const { change, after } = outcome(task, decideAction(task, { ...by(worker), action: 'unclaim', comment: 'Busy' }));
    expect(change).toMatchObject({ moved: [{ id: 'mine', status: 'withdrawn' }], event: 'task.claim_withdrawn' });
    expect(change).toMatchObject({ claim_id: 'mine', says: 'Worker withdrew its claim: Busy' });
    expect(after).toMatchObject({ status: 'open', claims: [{ id: 'other' }] });
  });

  test('a pending claim that has run out with its task is not taken back', () => {
    const task = { ...taskAs('open'), expires_at: at, claims: [claimOf(worker)] };
    const decision = decideAction(task, { ...by(worker), action: 'unclaim', comment: null });
    expect(decision).toEqual({ refused: 'PERMISSION_DENIED' });
  });
});

describe('submitting', () => {
  const words = { result_text: '42', result: { stones: 42 }, failure_reason: 'Rain' };
  const submit = (task: ReturnType<typeof taskAs>, who: typeof worker, failed = false) =>
    outcome(task, decideSubmit(task, { ...by(who), ...words, failed }));

  test.each(statuses.flatMap((status) => [false, true].map((failed) => [status, failed] as const)))(
    'a task that is %s, failed %s',
    (status, failed) => {
      const possible = status === 'claimed' || status === 'in_progress';
      const refused = taskAs(status).assigned_aid === null ? 'NOT_ASSIGNED' : 'INVALID_STATUS';
      expect(submit(taskAs(status), worker, failed).result).toBe(possible ? (failed ? 'failed' : 'review') : refused);
      for (const who of [creator, outsider]) expect(submit(taskAs(status), who, failed).result).toBe('NOT_ASSIGNED');
    },
  );

  test('a result waits for the creator', () => {
    const { change, after } = submit(taskAs('in_progress'), worker);
    expect(change).toMatchObject({ event: 'task.submitted', says: 'Worker submitted a result', comment: null });
    expect(change?.submission).toEqual({ ...words, failure_reason: null });
    expect(after).toMatchObject({ completed_at: null, claims: [{ id: 'held', status: 'accepted' }] });
  });

  test('a failure says why, and ends the task', () => {
    const { change, after } = submit(taskAs('in_progress'), worker, true);
    expect(change).toMatchObject({ event: 'task.failed', says: 'Worker gave up: Rain', comment: 'Rain' });
    expect([change?.submission, after?.completed_at]).toEqual([words, at]);
  });

  test('an agent that works on its own task needs no approval', () => {
    const { result, change, after } = submit({ ...taskAs('claimed'), assigned_aid: creator.aid }, creator);
    expect([result, change?.event, after?.completed_at]).toEqual(['done', 'task.approved', at]);
  });

  test('a claimed task that has run out takes no result, one in progress does', () => {
    expect(submit({ ...taskAs('claimed'), expires_at: at }, worker).result).toBe('INVALID_STATUS');
    expect(submit({ ...taskAs('in_progress'), expires_at: at }, worker).result).toBe('review');
  });
});

describe('subtasks', () => {
  test.each(statuses)('of a parent that is %s', (status) => {
    const over = ['done', 'failed', 'cancelled', 'expired'].includes(status);
    expect(refuseSubtask(taskAs(status), by(creator), at)).toBe(over ? 'PARENT_CLOSED' : undefined);
    expect(refuseSubtask(taskAs(status), by(outsider), at)).toBe('PERMISSION_DENIED');
    const assigned = taskAs(status).assigned_aid !== null;
    const open = over ? 'PARENT_CLOSED' : undefined;
    expect(refuseSubtask(taskAs(status), by(worker), at)).toBe(assigned ? open : 'PERMISSION_DENIED');
  });

  test('go three levels deep, the root counted', () => {
    expect(refuseSubtask({ ...taskAs('open'), depth: 2 }, by(creator), at)).toBeUndefined();
    expect(refuseSubtask({ ...taskAs('open'), depth: 3 }, by(creator), at)).toBe('MAX_DEPTH_EXCEEDED');
  });

  test('of a parent that has run out are refused', () => {
    expect(refuseSubtask({ ...taskAs('open'), expires_at: at }, by(creator), at)).toBe('PARENT_CLOSED');
  });
});

describe('messages', () => {
  test.each(statuses)('in the thread of a task that is %s', (status) => {
    const over = ['done', 'failed', 'cancelled', 'expired'].includes(status) ? 'TASK_CLOSED' : undefined;
    const assigned = taskAs(status).assigned_aid !== null;
    expect(refuseMessage(taskAs(status), by(creator), at)).toBe(over);
    expect(refuseMessage(taskAs(status), by(worker), at)).toBe(assigned ? over : 'PERMISSION_DENIED');
    expect(refuseMessage(taskAs(status), by(outsider), at)).toBe('PERMISSION_DENIED');
  });

  test('come from holders of live claims too, until the task has run out', () => {
    const task = { ...taskAs('open'), claims: [claimOf(outsider)] };
    expect(refuseMessage(task, by(outsider), at)).toBeUndefined();
    expect(refuseMessage({ ...task, expires_at: at }, by(outsider), at)).toBe('PERMISSION_DENIED');
  });
});

describe('names in notices', () => {
  test.each([
    ['<img src=x onerror=alert(1)>Eve', 'Eve'],
    ['<b>Eve</b>', 'Eve'],
    ['a < b', 'a < b'],
    ['<i></i>', 'An agent'],
  ])('%s', (name, shown) => {
    const { change } = outcome(
      taskAs('claimed'),
      decideAction(taskAs('claimed'), { ...by(worker), name, action: 'start', comment: null }),
    );
    expect(change?.says).toBe(`${shown} started the task`);
  });
});

test('open and claimed tasks are expired from expires_at on, others never', () => {
  const seen = statuses.map((status) => statusAt({ status, expires_at: at }, at));
  expect(seen).toEqual(['expired', 'expired', ...statuses.slice(2)]);
  expect(statusAt({ status: 'open', expires_at: later }, at)).toBe('open');
});

test('a change makes a new version and leaves the task before as it was', () => {
  const task = holding(worker);
  const before = structuredClone(task);
  expect(applied(task, { event: 'task.started', says: '' })).toEqual({ ...task, version: task.version + 1 });
  expect(task).toEqual(before);
});

describe('a new life of an agent does not act on what the former one left', () => {
  const again = (who: typeof worker) => ({ ...by(who), since: later });
  const words = { failed: false, result_text: 'r', result: null, failure_reason: null };

  test.each(['open', 'claimed', 'in_progress', 'review'] as const)('in a task that is %s', (status) => {
    const task = taskAs(status);
    const acts = (who: typeof worker, action: Action) => decideAction(task, { ...again(who), action, comment: null });
    for (const action of ['start', 'unclaim'] as const)
      expect(acts(worker, action)).toEqual({ refused: 'PERMISSION_DENIED' });
    for (const action of ['cancel', 'approve', 'reject'] as const)
      expect(acts(creator, action)).toEqual({ refused: 'PERMISSION_DENIED' });
    expect(decideSubmit(task, { ...again(worker), ...words })).toEqual({ refused: 'NOT_ASSIGNED' });
    for (const who of [creator, worker]) {
      expect(refuseSubtask(task, again(who), at)).toBe('PERMISSION_DENIED');
      expect(refuseMessage(task, again(who), at)).toBe('PERMISSION_DENIED');
    }
  });
});
