import type { Departed } from '@acsp/service';
import { claimsTo, type Decision, reopened } from './change.js';
import { includes, statusAt, type TaskState, terminal } from './state.js';

/** A task whose time has run out is over; INVALID_STATUS where it has not. */
export function decideExpiry(task: TaskState, at: Date): Decision {
  if (statusAt(task, at) !== 'expired' || task.status === 'expired') return { refused: 'INVALID_STATUS' };
  const moved = claimsTo('rejected', task.claims);
  return { set: { status: 'expired' }, moved, event: 'task.expired', says: 'The task has expired' };
}

/** A departed agent's task that is not over is cancelled. */
export function decideCreatorGone(task: TaskState, { aid, registered_at }: Departed, at: Date): Decision {
  const own = task.creator_aid === aid && task.creator_since <= registered_at;
  if (!own || includes(terminal, statusAt(task, at))) return { refused: 'INVALID_STATUS' };
  const pending = task.claims.filter(({ status }) => status === 'pending');
  const says = 'The task was cancelled: its creator has left';
  return { set: { status: 'cancelled' }, moved: claimsTo('rejected', pending), event: 'task.cancelled', says };
}

/** A departed agent's live claim is withdrawn, and what it worked on is open again. A result under review stays: it can still be approved. */
export function decideClaimerGone(task: TaskState, { aid, registered_at }: Departed, at: Date): Decision {
  const held = task.claims.find(({ agent_aid, agent_since }) => agent_aid === aid && agent_since <= registered_at);
  const status = statusAt(task, at);
  if (held === undefined || !includes(['open', 'claimed', 'in_progress'], status)) return { refused: 'INVALID_STATUS' };
  return {
    set: held.status === 'accepted' ? reopened(task, at) : {},
    moved: claimsTo('withdrawn', [held]),
    event: 'task.claim_withdrawn',
    says: 'A claim was withdrawn: its agent has left',
    claim_id: held.id,
  };
}
