import type { ErrorCode } from '@acsp/errors';
import type { ClaimStatus, TaskStatus } from '../generated/prisma/enums.js';

/** What an agent may ask for with tasks/update. */
export const actions = ['start', 'cancel', 'approve', 'reject', 'unclaim'] as const;
export type Action = (typeof actions)[number];

export interface Move {
  readonly from: readonly TaskStatus[];
  readonly by: 'creator' | 'assignee';
  readonly to: TaskStatus;
  readonly event: string;
  /** The system message: `<agent name> <says>`. */
  readonly says: string;
  /** What becomes of claims in one status. */
  readonly claims?: { readonly from: ClaimStatus; readonly to: ClaimStatus };
}

/** The moves of tasks/update (interface 3.1). */
export const moves = {
  start: { from: ['claimed'], by: 'assignee', to: 'in_progress', event: 'task.started', says: 'started the task' },
  cancel: {
    from: ['open', 'claimed'],
    by: 'creator',
    to: 'cancelled',
    event: 'task.cancelled',
    says: 'cancelled the task',
    // An accepted claim stays, as the assignment does.
    claims: { from: 'pending', to: 'rejected' },
  },
  unclaim: {
    from: ['claimed'],
    by: 'assignee',
    to: 'open',
    event: 'task.unclaimed',
    says: 'gave the task back',
    claims: { from: 'accepted', to: 'withdrawn' },
  },
  approve: { from: ['review'], by: 'creator', to: 'done', event: 'task.approved', says: 'approved the result' },
  reject: {
    from: ['review'],
    by: 'creator',
    to: 'open',
    event: 'task.rejected',
    says: 'rejected the result',
    claims: { from: 'accepted', to: 'rejected' },
  },
} as const satisfies Record<Action, Move>;

/** Statuses in which the assigned agent may submit. */
export const submittable = ['claimed', 'in_progress'] as const satisfies readonly TaskStatus[];

/** Statuses that nothing leaves. */
export const terminal = ['done', 'failed', 'cancelled', 'expired'] as const satisfies readonly TaskStatus[];

/** Statuses that run out at expires_at. */
export const expiring = ['open', 'claimed'] as const satisfies readonly TaskStatus[];

/** What the rules look at. */
export interface TaskState {
  readonly status: TaskStatus;
  readonly expires_at: Date;
  readonly creator_aid: string;
  readonly assigned_aid: string | null;
}

export const includes = <T>(list: readonly T[], item: unknown): item is T =>
  (list as readonly unknown[]).includes(item);

/** The status as everybody sees it: a task that ran out is expired before its row says so. */
export function statusAt({ status, expires_at }: Pick<TaskState, 'status' | 'expires_at'>, now: Date): TaskStatus {
  return includes(expiring, status) && expires_at <= now ? 'expired' : status;
}

/** Where an action leads, or why it is refused. */
export function decideAction(
  action: Action,
  task: TaskState,
  aid: string,
  now: Date,
): TaskStatus | { refused: ErrorCode } {
  const move: Move = moves[action];
  if (aid !== (move.by === 'creator' ? task.creator_aid : task.assigned_aid)) return { refused: 'PERMISSION_DENIED' };
  return move.from.includes(statusAt(task, now)) ? move.to : { refused: 'INVALID_TRANSITION' };
}

/** Where a submission leads, or why it is refused. An agent that works for itself needs nobody's approval. */
export function decideSubmit(
  task: TaskState,
  failed: boolean,
  aid: string,
  now: Date,
): TaskStatus | { refused: ErrorCode } {
  if (aid !== task.assigned_aid) return { refused: 'NOT_ASSIGNED' };
  if (!includes(submittable, statusAt(task, now))) return { refused: 'INVALID_STATUS' };
  if (failed) return 'failed';
  return task.creator_aid === task.assigned_aid ? 'done' : 'review';
}

export interface Claimed extends TaskState {
  readonly target_aid: string | null;
  readonly max_claims: number;
  readonly claims_count: number;
}

/**
 * What a claim becomes, or why it is refused. `holdsLive`: the agent has a pending or accepted claim on the task already, by its row;
 * nobody's claim outlives the task's expiry.
 */
export function decideClaim(
  task: Claimed,
  holdsLive: boolean,
  aid: string,
  now: Date,
): 'accepted' | 'pending' | { refused: ErrorCode } {
  if (aid === task.creator_aid) return { refused: 'CANNOT_CLAIM_OWN' };
  if (task.target_aid !== null && task.target_aid !== aid) return { refused: 'NOT_TARGET' };
  const status = statusAt(task, now);
  if (holdsLive && status !== 'expired') return { refused: 'ALREADY_CLAIMED' };
  if (status !== 'open') return { refused: 'TASK_NOT_OPEN' };
  if (task.claims_count >= task.max_claims) return { refused: 'MAX_CLAIMS_REACHED' };
  return task.max_claims === 1 ? 'accepted' : 'pending';
}

export interface Parent extends TaskState {
  /** 1 is the root. */
  readonly depth: number;
}

/** Why an agent may not add a subtask, if so. */
export function refuseSubtask(parent: Parent, aid: string, now: Date): ErrorCode | undefined {
  if (aid !== parent.creator_aid && aid !== parent.assigned_aid) return 'PERMISSION_DENIED';
  if (parent.depth >= 3) return 'MAX_DEPTH_EXCEEDED';
  return includes(terminal, statusAt(parent, now)) ? 'PARENT_CLOSED' : undefined;
}

/** Why an agent may not write in the thread, if so. */
export function refuseMessage(task: TaskState, holdsLive: boolean, aid: string, now: Date): ErrorCode | undefined {
  const status = statusAt(task, now);
  const claims = holdsLive && status !== 'expired';
  if (aid !== task.creator_aid && aid !== task.assigned_aid && !claims) return 'PERMISSION_DENIED';
  return includes(terminal, status) ? 'TASK_CLOSED' : undefined;
}
