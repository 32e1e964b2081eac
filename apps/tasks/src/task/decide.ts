import type { ErrorCode } from '@acsp/errors';
import type { JsonObject } from '@bufbuild/protobuf';
import type { ClaimStatus, TaskStatus } from '../generated/prisma/enums.js';
import { includes, type LiveClaim, statusAt, submittable, type TaskState, terminal } from './state.js';

// The rules of tasks and their effects (interface 3.1, decisions 5), once and pure: services, jobs and tests call these.

/** Who acts, and when. */
export interface Acting {
  readonly aid: string;
  /** As it stands in notices. */
  readonly name: string;
  /** Which life of the agent it is. */
  readonly since: Date;
  readonly at: Date;
}

/** What a decision does to a task. */
export interface Change {
  readonly set?: Partial<Omit<TaskState, 'claims' | 'id' | 'version'>>;
  /** Live claims that get another status. */
  readonly moved?: readonly { readonly id: string; readonly status: ClaimStatus }[];
  readonly claim?: LiveClaim & Pitch;
  readonly submission?: Submission;
  /** Of the event, the log entry and the notice. */
  readonly event: string;
  /** The notice in the thread. */
  readonly says: string;
  readonly comment?: string | null;
  /** The claim that it is about. */
  readonly claim_id?: string | null;
  /** Absent where the service itself acts. */
  readonly actor?: string;
}

export interface Pitch {
  readonly message: string | null;
  readonly eta_minutes: number | null;
  readonly match_score: number | null;
}

export interface Submission {
  readonly result_text: string;
  readonly result: JsonObject | null;
  readonly failure_reason: string | null;
}

export type Decision = Change | { readonly refused: ErrorCode };

/** The task after a change, made at a time. */
export function applied(task: TaskState, { set, moved = [], claim }: Change): TaskState {
  const statuses = new Map(moved.map(({ id, status }) => [id, status]));
  const kept = task.claims.map((held) => ({ ...held, status: statuses.get(held.id) ?? held.status }));
  const claims = [...kept, ...(claim === undefined ? [] : [claim])].filter(isLive);
  return { ...task, ...set, claims, version: task.version + 1 };
}

const isLive = (claim: { readonly status: ClaimStatus }): claim is LiveClaim =>
  claim.status === 'pending' || claim.status === 'accepted';

const withComment = (text: string, comment: string | null | undefined): string =>
  comment == null ? text : `${text}: ${comment}`;

const claimsTo = (status: ClaimStatus, claims: readonly LiveClaim[]) => claims.map(({ id }) => ({ id, status }));

const unassigned = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null };

/** A task that goes back to open lives on for its time to live where its time has run out meanwhile. */
const reopened = ({ expires_at, ttl_minutes }: TaskState, at: Date) => ({
  ...unassigned,
  status: 'open' as const,
  expires_at: expires_at <= at ? new Date(at.getTime() + ttl_minutes * 60_000) : expires_at,
});

export interface Claiming extends Acting, Pitch {
  readonly claim_id: string;
}

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
    says: `${name} claimed the task`,
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
export function decideResolve(task: TaskState, { aid, name, at, claim_id, accept }: Resolving): Decision {
  if (task.creator_aid !== aid) return { refused: 'PERMISSION_DENIED' };
  const chosen = task.claims.find(({ id }) => id === claim_id);
  if (chosen === undefined) return { refused: 'CLAIM_NOT_FOUND' };
  if (statusAt(task, at) !== 'open' || chosen.status !== 'pending') return { refused: 'INVALID_TRANSITION' };
  const { agent_aid: assigned_aid, agent_name: assigned_name } = chosen;
  const others = task.claims.filter(({ id }) => id !== claim_id);
  const about = { claim_id, actor: aid };
  if (!accept) {
    const says = `${name} rejected the claim of ${assigned_name}`;
    return { moved: claimsTo('rejected', [chosen]), event: 'task.claim_rejected', says, ...about };
  }
  return {
    set: { status: 'claimed', assigned_aid, assigned_name, claimed_at: at },
    moved: [...claimsTo('accepted', [chosen]), ...claimsTo('rejected', others)],
    event: 'task.claimed',
    says: `${name} accepted the claim of ${assigned_name}`,
    ...about,
  };
}

/** What an agent may ask for with tasks/update. */
export const actions = ['start', 'cancel', 'approve', 'reject', 'unclaim'] as const;
export type Action = (typeof actions)[number];

interface Move {
  readonly from: readonly TaskStatus[];
  readonly by: 'creator' | 'assignee';
  readonly event: string;
  /** Behind the agent's name. */
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
  if (aid !== (mover === 'creator' ? task.creator_aid : task.assigned_aid)) {
    return action === 'unclaim' ? decideWithdrawal(task, by) : { refused: 'PERMISSION_DENIED' };
  }
  if (!from.includes(statusAt(task, at))) return { refused: 'INVALID_TRANSITION' };
  const ended = claims === undefined ? [] : task.claims.filter(({ status }) => status === claims.from);
  return {
    set: set(task, at),
    moved: claims === undefined ? [] : claimsTo(claims.to, ended),
    event,
    says: withComment(`${name} ${says}`, comment),
    comment,
    // A cancelled task may have had several.
    claim_id: action === 'cancel' ? null : (ended[0]?.id ?? null),
    actor: aid,
  };
}

/** An agent that is not assigned takes back its own pending claim; the task stays as it is. */
function decideWithdrawal(task: TaskState, { aid, name, at, comment }: Updating): Decision {
  const held = task.claims.find(({ agent_aid, status }) => agent_aid === aid && status === 'pending');
  if (held === undefined || statusAt(task, at) !== 'open') return { refused: 'PERMISSION_DENIED' };
  const says = withComment(`${name} withdrew its claim`, comment);
  const moved = claimsTo('withdrawn', [held]);
  return { moved, event: 'task.claim_withdrawn', says, comment, claim_id: held.id, actor: aid };
}

export interface Submitting extends Acting {
  readonly failed: boolean;
  readonly result_text: string;
  readonly result: JsonObject | null;
  readonly failure_reason: string | null;
}

/** An agent that works for itself needs nobody's approval. */
export function decideSubmit(task: TaskState, by: Submitting): Decision {
  const { aid, name, at, failed, result_text, result, failure_reason } = by;
  if (aid !== task.assigned_aid) return { refused: 'NOT_ASSIGNED' };
  if (!includes(submittable, statusAt(task, at))) return { refused: 'INVALID_STATUS' };
  const status = failed ? 'failed' : task.creator_aid === aid ? 'done' : 'review';
  const reason = failed ? failure_reason : null;
  return {
    set: { status, completed_at: status === 'review' ? null : at },
    submission: { result_text, result, failure_reason: reason },
    event: { failed: 'task.failed', done: 'task.approved', review: 'task.submitted' }[status],
    says: failed ? withComment(`${name} gave up`, reason) : `${name} submitted a result`,
    comment: reason,
    actor: aid,
  };
}

/** A task whose time has run out is over; INVALID_STATUS where it has not. */
export function decideExpiry(task: TaskState, at: Date): Decision {
  if (statusAt(task, at) !== 'expired' || task.status === 'expired') return { refused: 'INVALID_STATUS' };
  const moved = claimsTo('rejected', task.claims);
  return { set: { status: 'expired' }, moved, event: 'task.expired', says: 'The task has expired' };
}

/** A life of an agent that ended. */
export interface Departed {
  readonly aid: string;
  readonly registered_at: Date;
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

/** Why an agent may not add a subtask, if so. The root is level 1. */
export function refuseSubtask(parent: TaskState, aid: string, at: Date): ErrorCode | undefined {
  if (aid !== parent.creator_aid && aid !== parent.assigned_aid) return 'PERMISSION_DENIED';
  if (parent.depth >= 3) return 'MAX_DEPTH_EXCEEDED';
  return includes(terminal, statusAt(parent, at)) ? 'PARENT_CLOSED' : undefined;
}

/** Why an agent may not write in the thread, if so. */
export function refuseMessage(task: TaskState, aid: string, at: Date): ErrorCode | undefined {
  const status = statusAt(task, at);
  const holds = status !== 'expired' && task.claims.some(({ agent_aid }) => agent_aid === aid);
  if (aid !== task.creator_aid && aid !== task.assigned_aid && !holds) return 'PERMISSION_DENIED';
  return includes(terminal, status) ? 'TASK_CLOSED' : undefined;
}
