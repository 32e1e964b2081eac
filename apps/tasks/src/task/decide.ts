import type { ErrorCode } from '@acsp/errors';
import { noticeName } from '@acsp/text';
import type { ClaimStatus, TaskStatus } from '../generated/prisma/enums.js';
import { type Acting, type Change, claimsTo, type Decision, reopened, type Submission, withComment } from './change.js';
import { decideWithdrawal } from './decide-claim.js';
import {
  holdsClaim,
  includes,
  isAssigned,
  isCreator,
  type Life,
  type LiveClaim,
  statusAt,
  submittable,
  type TaskState,
  terminal,
} from './state.js';

/** The actions of tasks/update. */
export const actions = ['start', 'cancel', 'approve', 'reject', 'unclaim'] as const;
export type Action = (typeof actions)[number];

interface Move {
  readonly from: readonly TaskStatus[];
  readonly by: 'creator' | 'assignee';
  readonly event: string;
  /** The notice is the agent's name followed by this. */
  readonly says: string;
  readonly set: (task: TaskState, at: Date) => NonNullable<Change['set']>;
  readonly claims?: { readonly from: LiveClaim['status']; readonly to: ClaimStatus };
}

/** The moves of tasks/update (interface 3.1). */
export const moves: Readonly<Record<Action, Move>> = {
  start: {
    ...{ from: ['claimed'], by: 'assignee', event: 'task.started', says: 'started the task' },
    set: (_task, at) => ({ status: 'in_progress', started_at: at }),
  },
  cancel: {
    ...{ from: ['open', 'claimed'], by: 'creator', event: 'task.cancelled', says: 'cancelled the task' },
    set: () => ({ status: 'cancelled' }),
    // An accepted claim stays, as the assignment does.
    claims: { from: 'pending', to: 'rejected' },
  },
  unclaim: {
    ...{ from: ['claimed'], by: 'assignee', event: 'task.unclaimed', says: 'gave the task back' },
    set: reopened,
    claims: { from: 'accepted', to: 'withdrawn' },
  },
  approve: {
    ...{ from: ['review'], by: 'creator', event: 'task.approved', says: 'approved the result' },
    set: (_task, at) => ({ status: 'done', completed_at: at }),
  },
  reject: {
    ...{ from: ['review'], by: 'creator', event: 'task.rejected', says: 'rejected the result' },
    set: reopened,
    claims: { from: 'accepted', to: 'rejected' },
  },
};

export interface Updating extends Acting {
  readonly action: Action;
  readonly comment: string | null;
}

export function decideAction(task: TaskState, by: Updating): Decision {
  const { action, aid, name, at, comment } = by;
  const { from, by: mover, event, says, set, claims } = moves[action];
  if (!(mover === 'creator' ? isCreator(task, by) : isAssigned(task, by))) {
    return action === 'unclaim' ? decideWithdrawal(task, by) : { refused: 'PERMISSION_DENIED' };
  }
  if (!from.includes(statusAt(task, at))) return { refused: 'INVALID_TRANSITION' };
  const ended = claims === undefined ? [] : task.claims.filter(({ status }) => status === claims.from);
  return {
    set: set(task, at),
    moved: claims === undefined ? [] : claimsTo(claims.to, ended),
    event,
    says: withComment(`${noticeName(name)} ${says}`, comment),
    comment,
    // A cancelled task may have had several.
    claim_id: action === 'cancel' ? null : (ended[0]?.id ?? null),
    actor: aid,
  };
}

export interface Submitting extends Acting, Submission {
  readonly failed: boolean;
}

/** An agent that works for itself needs nobody's approval. */
export function decideSubmit(task: TaskState, by: Submitting): Decision {
  const { aid, name, at, failed, result_text, result, failure_reason } = by;
  if (!isAssigned(task, by)) return { refused: 'NOT_ASSIGNED' };
  if (!includes(submittable, statusAt(task, at))) return { refused: 'INVALID_STATUS' };
  const status = failed ? 'failed' : task.creator_aid === aid ? 'done' : 'review';
  const reason = failed ? failure_reason : null;
  const agent = noticeName(name);
  return {
    set: { status, completed_at: status === 'review' ? null : at },
    submission: { result_text, result, failure_reason: reason },
    event: { failed: 'task.failed', done: 'task.approved', review: 'task.submitted' }[status],
    says: failed ? withComment(`${agent} gave up`, reason) : `${agent} submitted a result`,
    comment: reason,
    actor: aid,
  };
}

/** Why an agent may not add a subtask, if so. The root is level 1. */
export function refuseSubtask(parent: TaskState, by: Life, at: Date): ErrorCode | undefined {
  if (!isCreator(parent, by) && !isAssigned(parent, by)) return 'PERMISSION_DENIED';
  if (parent.depth >= 3) return 'MAX_DEPTH_EXCEEDED';
  return includes(terminal, statusAt(parent, at)) ? 'PARENT_CLOSED' : undefined;
}

/** Why an agent may not write in the thread, if so. */
export function refuseMessage(task: TaskState, by: Life, at: Date): ErrorCode | undefined {
  const status = statusAt(task, at);
  const holds = status !== 'expired' && holdsClaim(task, by);
  if (!isCreator(task, by) && !isAssigned(task, by) && !holds) return 'PERMISSION_DENIED';
  return includes(terminal, status) ? 'TASK_CLOSED' : undefined;
}
