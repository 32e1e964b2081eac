import {
  at,
  by,
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
import { decideClaim, decideResolve } from './decide-claim.js';

const pitch = { claim_id: 'new', message: 'Mine', eta_minutes: 30, match_score: 0.5 };
const claim = (task: ReturnType<typeof taskAs>, who: typeof worker) =>
  outcome(task, decideClaim(task, { ...by(who), ...pitch }));
const several = (...claims: ReturnType<typeof claimOf>[]) => ({ ...taskAs('open'), max_claims: 3, claims });

describe('claiming', () => {
  test.each(statuses)('a task that is %s', (status) => {
    const task = taskAs(status);
    expect(claim(task, creator).result).toBe('CANNOT_CLAIM_OWN');
    expect(claim(task, outsider).result).toBe(status === 'open' ? 'claimed' : 'TASK_NOT_OPEN');
    expect(claim({ ...task, target_aid: worker.aid }, outsider).result).toBe('NOT_TARGET');
    const holds = task.claims.length > 0;
    expect(claim(task, worker).result).toBe(
      status === 'open' ? 'claimed' : holds ? 'ALREADY_CLAIMED' : 'TASK_NOT_OPEN',
    );
  });

  test('assigns where one claim is all it takes', () => {
    const { change, after } = claim(taskAs('open'), outsider);
    const made = { id: 'new', agent_aid: outsider.aid, agent_name: 'Outsider', agent_since: since, status: 'accepted' };
    expect(after).toMatchObject({ assigned_aid: outsider.aid, assigned_name: 'Outsider', claimed_at: at });
    expect(after?.claims).toEqual([made]);
    expect(change).toMatchObject({ claim: { ...made, message: 'Mine', eta_minutes: 30, match_score: 0.5 } });
    expect(change).toMatchObject({ event: 'task.claimed', says: 'Outsider claimed the task', comment: 'Mine' });
    expect(change).toMatchObject({ claim_id: 'new', actor: outsider.aid });
  });

  test('waits for the creator where the task takes several', () => {
    const { result, change, after } = claim(several(claimOf(worker)), outsider);
    expect([result, change?.event, change?.claim?.status]).toEqual(['open', 'task.claim_pending', 'pending']);
    expect(after).toMatchObject({ assigned_aid: null, claimed_at: null, claims: [{ id: 'held' }, { id: 'new' }] });
  });

  test('is refused beyond max_claims, and to the holder of a live claim before that', () => {
    const full = { ...several(claimOf(worker)), max_claims: 1 };
    expect(claim(full, outsider).result).toBe('MAX_CLAIMS_REACHED');
    expect(claim(full, worker).result).toBe('ALREADY_CLAIMED');
  });

  test('is for the target alone, where there is one', () => {
    expect(claim({ ...taskAs('open'), target_aid: worker.aid }, worker).result).toBe('claimed');
  });

  test('is over when the task has run out, for the holder of a claim too', () => {
    const ranOut = { ...holding(worker), expires_at: at };
    for (const who of [worker, outsider]) expect(claim(ranOut, who).result).toBe('TASK_NOT_OPEN');
  });

  test('keeps the name as it is, and cleans it in the notice', () => {
    const { change } = claim(taskAs('open'), { ...outsider, name: '<b>Eve</b>' });
    expect(change).toMatchObject({ says: 'Eve claimed the task', claim: { agent_name: '<b>Eve</b>' } });
  });
});

describe('resolving', () => {
  const resolve = (task: ReturnType<typeof taskAs>, accept: boolean, who = creator, claim_id = 'first') =>
    outcome(task, decideResolve(task, { ...by(who), claim_id, accept }));
  const two = several(claimOf(worker, 'first'), claimOf(outsider, 'second'));

  test('accepting assigns the claimer and rejects the others', () => {
    const { change, after } = resolve(two, true);
    const moved = [
      { id: 'first', status: 'accepted' },
      { id: 'second', status: 'rejected' },
    ];
    expect(change).toMatchObject({ moved, event: 'task.claimed', claim_id: 'first', actor: creator.aid });
    expect(change?.says).toBe('Creator accepted the claim of Worker');
    expect(after).toMatchObject({
      status: 'claimed',
      assigned_aid: worker.aid,
      assigned_name: 'Worker',
      claimed_at: at,
    });
    expect(after?.claims).toMatchObject([{ id: 'first', status: 'accepted' }]);
  });

  test('rejecting leaves the task open and the others pending', () => {
    const { result, change, after } = resolve(two, false);
    expect([result, change?.event]).toEqual(['open', 'task.claim_rejected']);
    expect(change).toMatchObject({ moved: [{ id: 'first', status: 'rejected' }], claim_id: 'first' });
    expect(change?.says).toBe('Creator rejected the claim of Worker');
    expect(after).toMatchObject({ assigned_aid: null, claims: [{ id: 'second', status: 'pending' }] });
  });

  test.each([
    ['PERMISSION_DENIED', two, worker, 'first'],
    ['PERMISSION_DENIED', two, outsider, 'unknown'],
    ['CLAIM_NOT_FOUND', two, creator, 'unknown'],
    ['INVALID_TRANSITION', holding(worker), creator, 'held'],
    ['INVALID_TRANSITION', { ...two, expires_at: at }, creator, 'first'],
  ] as const)('%s', (refused, task, who, claim_id) => {
    for (const accept of [true, false]) expect(resolve(task, accept, who, claim_id).result).toBe(refused);
  });

  test('cleans both names in the notice', () => {
    const task = several({ ...claimOf(worker, 'first'), agent_name: '<i>Eve</i>' });
    expect(resolve(task, true, { ...creator, name: '<b></b>' }).change?.says).toBe(
      'An agent accepted the claim of Eve',
    );
    expect(resolve({ ...task, expires_at: later }, true).after?.assigned_name).toBe('<i>Eve</i>');
  });
});
