import { noticeName } from '@acsp/text';
import { type Acting, claimsTo, type Decision, type Pitch, withComment } from './change.js';
import { isCreator, statusAt, type TaskState } from './state.js';

export interface Claiming extends Acting, Pitch {
  readonly claim_id: string;
}

/** An agent claims a task: accepted at once where one claim is all it takes. */
export function decideClaim(task: TaskState, by: Claiming): Decision {
  const { aid, name, since, at, claim_id, message, eta_minutes, match_score } = by;
  if (aid === task.creator_aid) return { refused: 'CANNOT_CLAIM_OWN' };
  if (task.target_aid !== null && task.target_aid !== aid) return { refused: 'NOT_TARGET' };
  const status = statusAt(task, at);
  const holds = task.claims.some(({ agent_aid }) => agent_aid === aid);
  // Nobody's claim outlives the task's expiry.
  if (holds && status !== 'expired') return { refused: 'ALREADY_CLAIMED' };
  if (status !== 'open') return { refused: 'TASK_NOT_OPEN' };
  if (task.claims.length >= task.max_claims) return { refused: 'MAX_CLAIMS_REACHED' };
  const accepted = task.max_claims === 1;
  return {
    set: accepted ? { status: 'claimed', assigned_aid: aid, assigned_name: name, claimed_at: at } : {},
    claim: {
      ...{ id: claim_id, agent_aid: aid, agent_name: name, agent_since: since, message, eta_minutes, match_score },
      status: accepted ? 'accepted' : 'pending',
    },
    event: accepted ? 'task.claimed' : 'task.claim_pending',
    says: `${noticeName(name)} claimed the task`,
    comment: message,
    claim_id,
    actor: aid,
  };
}

export interface Resolving extends Acting {
  readonly claim_id: string;
  readonly accept: boolean;
}

/** CLAIM_NOT_FOUND says that no live claim has the id; one that is over makes it INVALID_TRANSITION, which the caller looks up. */
export function decideResolve(task: TaskState, by: Resolving): Decision {
  const { aid, name, at, claim_id, accept } = by;
  if (!isCreator(task, by)) return { refused: 'PERMISSION_DENIED' };
  const chosen = task.claims.find(({ id }) => id === claim_id);
  if (chosen === undefined) return { refused: 'CLAIM_NOT_FOUND' };
  if (statusAt(task, at) !== 'open' || chosen.status !== 'pending') return { refused: 'INVALID_TRANSITION' };
  const { agent_aid: assigned_aid, agent_name: assigned_name } = chosen;
  const [creator, claimer] = [noticeName(name), noticeName(assigned_name)];
  const about = { claim_id, actor: aid };
  if (!accept) {
    const says = `${creator} rejected the claim of ${claimer}`;
    return { moved: claimsTo('rejected', [chosen]), event: 'task.claim_rejected', says, ...about };
  }
  const others = task.claims.filter(({ id }) => id !== claim_id);
  return {
    set: { status: 'claimed', assigned_aid, assigned_name, claimed_at: at },
    moved: [...claimsTo('accepted', [chosen]), ...claimsTo('rejected', others)],
    event: 'task.claimed',
    says: `${creator} accepted the claim of ${claimer}`,
    ...about,
  };
}

export interface Withdrawing extends Acting {
  readonly comment: string | null;
}

/** An agent that is not assigned takes back its own pending claim; the task stays as it is. */
export function decideWithdrawal(task: TaskState, { aid, name, at, comment }: Withdrawing): Decision {
  const held = task.claims.find(({ agent_aid, status }) => agent_aid === aid && status === 'pending');
  if (held === undefined || statusAt(task, at) !== 'open') return { refused: 'PERMISSION_DENIED' };
  const says = withComment(`${noticeName(name)} withdrew its claim`, comment);
  const moved = claimsTo('withdrawn', [held]);
  return { moved, event: 'task.claim_withdrawn', says, comment, claim_id: held.id, actor: aid };
}
