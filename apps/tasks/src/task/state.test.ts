import {
  type Action,
  actions,
  decideAction,
  decideClaim,
  decideSubmit,
  refuseMessage,
  refuseSubtask,
  statusAt,
} from './state.js';

const now = new Date('2026-01-01T12:00:00Z');
const later = new Date('2026-01-01T13:00:00Z');
const creator = 'creator';
const worker = 'worker';
const stranger = 'stranger';
const statuses = ['open', 'claimed', 'in_progress', 'review', 'done', 'failed', 'cancelled', 'expired'] as const;
const task = (status: (typeof statuses)[number]) => ({
  status,
  expires_at: later,
  creator_aid: creator,
  assigned_aid: status === 'open' ? null : worker,
  target_aid: null,
  max_claims: 1,
  claims_count: 0,
  depth: 1,
});

describe('interface 3.1', () => {
  const allowed: Record<Action, { by: string; from: string[]; to: string }> = {
    start: { by: worker, from: ['claimed'], to: 'in_progress' },
    cancel: { by: creator, from: ['open', 'claimed'], to: 'cancelled' },
    unclaim: { by: worker, from: ['claimed'], to: 'open' },
    approve: { by: creator, from: ['review'], to: 'done' },
    reject: { by: creator, from: ['review'], to: 'open' },
  };

  test.each(actions.flatMap((action) => statuses.map((status) => [action, status] as const)))(
    '%s on a task that is %s',
    (action, status) => {
      const { by, from, to } = allowed[action];
      const byRightOne = decideAction(action, task(status), by, now);
      const unassigned = by === worker && status === 'open';
      if (unassigned) expect(byRightOne).toEqual({ refused: 'PERMISSION_DENIED' });
      else expect(byRightOne).toEqual(from.includes(status) ? to : { refused: 'INVALID_TRANSITION' });
      expect(decideAction(action, task(status), stranger, now)).toEqual({ refused: 'PERMISSION_DENIED' });
    },
  );

  test.each(statuses)('submitting a task that is %s', (status) => {
    const submittable = status === 'claimed' || status === 'in_progress';
    const refused = { refused: status === 'open' ? 'NOT_ASSIGNED' : 'INVALID_STATUS' };
    expect(decideSubmit(task(status), false, worker, now)).toEqual(submittable ? 'review' : refused);
    expect(decideSubmit(task(status), true, worker, now)).toEqual(submittable ? 'failed' : refused);
    expect(decideSubmit(task(status), false, stranger, now)).toEqual({ refused: 'NOT_ASSIGNED' });
  });

  test('an agent that works on its own task needs no approval', () => {
    expect(decideSubmit({ ...task('claimed'), assigned_aid: creator }, false, creator, now)).toBe('done');
  });
});

describe('expiry', () => {
  test('open and claimed tasks are expired from expires_at on, others never', () => {
    const seen = Object.fromEntries(statuses.map((status) => [status, statusAt(task(status), later)]));
    expect(seen).toMatchObject({
      open: 'expired',
      claimed: 'expired',
      in_progress: 'in_progress',
      review: 'review',
      done: 'done',
    });
    expect(statusAt(task('open'), now)).toBe('open');
  });

  test('nothing moves a task that has run out', () => {
    expect(decideAction('start', task('claimed'), worker, later)).toEqual({ refused: 'INVALID_TRANSITION' });
    expect(decideSubmit(task('claimed'), false, worker, later)).toEqual({ refused: 'INVALID_STATUS' });
    expect(decideClaim(task('open'), false, worker, later)).toEqual({ refused: 'TASK_NOT_OPEN' });
    expect(refuseSubtask(task('open'), creator, later)).toBe('PARENT_CLOSED');
    expect(refuseMessage(task('open'), false, creator, later)).toBe('TASK_CLOSED');
  });

  test('no claim outlives it', () => {
    expect(decideClaim(task('claimed'), true, worker, later)).toEqual({ refused: 'TASK_NOT_OPEN' });
    expect(refuseMessage(task('open'), true, stranger, later)).toBe('PERMISSION_DENIED');
  });
});

describe('claims', () => {
  test('are accepted at once where one is all the task takes, else pending', () => {
    expect(decideClaim(task('open'), false, worker, now)).toBe('accepted');
    expect(decideClaim({ ...task('open'), max_claims: 2 }, false, worker, now)).toBe('pending');
  });

  test.each([
    ['CANNOT_CLAIM_OWN', { ...task('done'), target_aid: stranger }, false, creator],
    ['NOT_TARGET', { ...task('done'), target_aid: stranger }, true, worker],
    ['ALREADY_CLAIMED', task('review'), true, worker],
    ['TASK_NOT_OPEN', { ...task('claimed'), claims_count: 1 }, false, stranger],
    ['MAX_CLAIMS_REACHED', { ...task('open'), max_claims: 2, claims_count: 2 }, false, worker],
  ] as const)('%s comes before what else is wrong', (refused, row, holdsLive, aid) => {
    expect(decideClaim(row, holdsLive, aid, now)).toEqual({ refused });
  });

  test('the target itself may claim', () => {
    expect(decideClaim({ ...task('open'), target_aid: worker }, false, worker, now)).toBe('accepted');
  });
});

describe('subtasks', () => {
  test('are added by the creator or the assigned agent of a parent that is not over', () => {
    for (const status of ['claimed', 'in_progress', 'review'] as const) {
      expect(refuseSubtask(task(status), creator, now)).toBeUndefined();
      expect(refuseSubtask(task(status), worker, now)).toBeUndefined();
    }
    for (const status of ['done', 'failed', 'cancelled', 'expired'] as const) {
      expect(refuseSubtask(task(status), creator, now)).toBe('PARENT_CLOSED');
    }
    expect(refuseSubtask(task('open'), stranger, now)).toBe('PERMISSION_DENIED');
  });

  test('go three levels deep, the root counted', () => {
    expect(refuseSubtask({ ...task('open'), depth: 2 }, creator, now)).toBeUndefined();
    expect(refuseSubtask({ ...task('open'), depth: 3 }, creator, now)).toBe('MAX_DEPTH_EXCEEDED');
  });
});

describe('messages', () => {
  test('come from the creator, the assigned agent and holders of live claims', () => {
    expect(refuseMessage(task('claimed'), false, creator, now)).toBeUndefined();
    expect(refuseMessage(task('claimed'), false, worker, now)).toBeUndefined();
    expect(refuseMessage(task('open'), true, stranger, now)).toBeUndefined();
    expect(refuseMessage(task('done'), false, stranger, now)).toBe('PERMISSION_DENIED');
    expect(refuseMessage(task('done'), false, creator, now)).toBe('TASK_CLOSED');
  });
});
