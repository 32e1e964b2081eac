import {
  at,
  claimOf,
  creator,
  holding,
  later,
  outcome,
  outsider,
  since,
  statuses,
  taskAs,
  worker,
} from '../../test/sample-tasks.js';
import { decideClaimerGone, decideCreatorGone, decideExpiry } from './decide-end.js';

const over = ['done', 'failed', 'cancelled', 'expired'];
const pending = () => ({ ...taskAs('open'), max_claims: 3, claims: [claimOf(worker, 'a'), claimOf(outsider, 'b')] });
/** A life of an agent that ended, and one before that life of the agents here. */
const gone = ({ aid }: { aid: string }, registered_at = since) => ({ aid, registered_at });
const before = new Date(since.getTime() - 1);

describe('expiry', () => {
  test.each(statuses)('of a task that is %s', (status) => {
    const ranOut = { ...taskAs(status), expires_at: at };
    const runsOut = status === 'open' || status === 'claimed';
    expect(outcome(ranOut, decideExpiry(ranOut, at)).result).toBe(runsOut ? 'expired' : 'INVALID_STATUS');
    expect(outcome(ranOut, decideExpiry({ ...ranOut, expires_at: later }, at)).result).toBe('INVALID_STATUS');
  });

  test('rejects live claims, and nobody is its actor', () => {
    const task = { ...pending(), expires_at: at };
    const { change, after } = outcome(task, decideExpiry(task, at));
    expect(change?.moved?.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([change?.event, change?.actor, after?.claims]).toEqual(['task.expired', undefined, []]);
  });
});

describe('a creator that is gone', () => {
  test.each(statuses)('leaves a task that is %s', (status) => {
    const task = taskAs(status);
    const result = (who: typeof creator, registered_at?: Date) =>
      outcome(task, decideCreatorGone(task, gone(who, registered_at), at)).result;
    expect(result(creator)).toBe(over.includes(status) ? 'INVALID_STATUS' : 'cancelled');
    expect(result(creator, before)).toBe('INVALID_STATUS');
    expect(result(worker)).toBe('INVALID_STATUS');
  });

  test('rejects pending claims and lets an accepted one stand', () => {
    const { change, after } = outcome(pending(), decideCreatorGone(pending(), gone(creator), at));
    expect(change?.moved?.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(change).toMatchObject({ event: 'task.cancelled', says: 'The task was cancelled: its creator has left' });
    expect([change?.actor, after?.claims]).toEqual([undefined, []]);
    const held = outcome(holding(worker), decideCreatorGone(holding(worker), gone(creator), at)).after;
    expect(held).toMatchObject({ status: 'cancelled', assigned_aid: worker.aid, claims: [{ status: 'accepted' }] });
  });

  test('a task that has run out stays expired', () => {
    const ranOut = { ...taskAs('open'), expires_at: at };
    expect(decideCreatorGone(ranOut, gone(creator), at)).toEqual({ refused: 'INVALID_STATUS' });
  });
});

describe('a claimer that is gone', () => {
  test.each(statuses)('leaves a task that is %s', (status) => {
    const task = taskAs(status);
    const works = status === 'claimed' || status === 'in_progress';
    const result = (registered_at?: Date) =>
      outcome(task, decideClaimerGone(task, gone(worker, registered_at), at)).result;
    expect(result()).toBe(works ? 'open' : 'INVALID_STATUS');
    expect(result(before)).toBe('INVALID_STATUS');
  });

  test('has its accepted claim withdrawn, and the task is open for as long as it has left', () => {
    const { change, after } = outcome(holding(worker), decideClaimerGone(holding(worker), gone(worker), at));
    expect(change).toMatchObject({ moved: [{ id: 'held', status: 'withdrawn' }], claim_id: 'held' });
    expect([change?.event, change?.actor]).toEqual(['task.claim_withdrawn', undefined]);
    const free = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null, claims: [] };
    expect(after).toMatchObject({ ...free, status: 'open', expires_at: later });
  });

  test('work that went on past its time is open for its ttl again', () => {
    const task = { ...holding(worker), status: 'in_progress' as const, expires_at: at, ttl_minutes: 10 };
    const { after } = outcome(task, decideClaimerGone(task, gone(worker), at));
    expect(after?.expires_at).toEqual(new Date(at.getTime() + 10 * 60_000));
  });

  test('has its pending claim withdrawn, and the others stay', () => {
    const { result, after } = outcome(pending(), decideClaimerGone(pending(), gone(worker), at));
    expect([result, after?.claims.map(({ id }) => id)]).toEqual(['open', ['b']]);
  });

  test('nothing is withdrawn from a task that has run out', () => {
    const ranOut = { ...holding(worker), expires_at: at };
    expect(decideClaimerGone(ranOut, gone(worker), at)).toEqual({ refused: 'INVALID_STATUS' });
  });
});
