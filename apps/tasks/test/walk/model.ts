import type { ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/rpc';
import type { ClaimStatus, TaskStatus } from '../../src/generated/prisma/enums.js';
import {
  type Action,
  decideAction,
  decideClaim,
  decideSubmit,
  moves,
  refuseMessage,
  refuseSubtask,
  statusAt,
} from '../../src/task/state.js';

// What the tables should hold, moved by the pure rules of state.ts and by the effects of interface 3.1 written down a second time.

export interface ModelClaim {
  readonly id: string;
  readonly agent: Agent;
  status: ClaimStatus;
}

export interface ModelTask {
  readonly id: string;
  readonly creator: Agent;
  readonly target_aid: string | null;
  readonly max_claims: number;
  readonly depth: number;
  readonly ttlMs: number;
  /** As in the row: a task that has run out says so only after a sweep. */
  status: TaskStatus;
  expires_at: Date;
  assigned: Agent | null;
  subtasks_count: number;
  messages: number;
  readonly claims: ModelClaim[];
}

/** One thing that happened to a task: an event, and unless an agent wrote it, a log entry and a system message. */
export interface Change {
  readonly task: ModelTask;
  readonly event: string;
  readonly from: TaskStatus | undefined;
  readonly to: TaskStatus;
  readonly actor: Agent | undefined;
}

/** What a step leads to: a refusal that changes nothing, or changes. */
export type Outcome = { readonly refused: ErrorCode } | { readonly changes: readonly Change[] };

export const isLive = ({ status }: ModelClaim) => status === 'pending' || status === 'accepted';
export const liveClaims = (task: ModelTask) => task.claims.filter(isLive);
const holdsLive = (task: ModelTask, { aid }: Agent) => liveClaims(task).some(({ agent }) => agent.aid === aid);

/** The task as the rules look at it. */
export const stateOf = (task: ModelTask) => ({
  ...task,
  creator_aid: task.creator.aid,
  assigned_aid: task.assigned?.aid ?? null,
  claims_count: liveClaims(task).length,
});

const endClaims = (task: ModelTask, from: ClaimStatus, to: ClaimStatus) => {
  for (const claim of task.claims) if (claim.status === from) claim.status = to;
};

/** Moves the task and says so. */
function move(
  task: ModelTask,
  event: string,
  { to = task.status, actor }: { to?: TaskStatus; actor?: Agent } = {},
): Outcome {
  const from = task.status;
  task.status = to;
  task.messages += 1;
  return { changes: [{ task, event, from, to, actor }] };
}

export function creation(task: ModelTask, parent?: ModelTask): Outcome {
  if (parent !== undefined) parent.subtasks_count += 1;
  return { changes: [{ task, event: 'task.created', from: undefined, to: 'open', actor: task.creator }] };
}

/** `claimId` is that of the answer. */
export function claim(task: ModelTask, agent: Agent, now: Date, claimId: string): Outcome {
  const decision = decideClaim(stateOf(task), holdsLive(task, agent), agent.aid, now);
  if (typeof decision === 'object') return decision;
  task.claims.push({ id: claimId, agent, status: decision });
  if (decision === 'pending') return move(task, 'task.claim_pending', { actor: agent });
  task.assigned = agent;
  return move(task, 'task.claimed', { to: 'claimed', actor: agent });
}

export interface Resolution {
  readonly claimId: string;
  readonly accept: boolean;
}

export function resolve(task: ModelTask, agent: Agent, now: Date, { claimId, accept }: Resolution): Outcome {
  const chosen = task.claims.find(({ id }) => id === claimId);
  if (agent.aid !== task.creator.aid) return { refused: 'PERMISSION_DENIED' };
  if (chosen === undefined) return { refused: 'CLAIM_NOT_FOUND' };
  if (statusAt(task, now) !== 'open' || chosen.status !== 'pending') return { refused: 'INVALID_TRANSITION' };
  chosen.status = accept ? 'accepted' : 'rejected';
  if (!accept) return move(task, 'task.claim_rejected', { actor: agent });
  endClaims(task, 'pending', 'rejected');
  task.assigned = chosen.agent;
  return move(task, 'task.claimed', { to: 'claimed', actor: agent });
}

export function update(task: ModelTask, agent: Agent, now: Date, action: Action): Outcome {
  const decision = decideAction(action, stateOf(task), agent.aid, now);
  if (typeof decision === 'object') {
    const pending = task.claims.find((held) => held.agent.aid === agent.aid && held.status === 'pending');
    const withdraws =
      action === 'unclaim' && decision.refused === 'PERMISSION_DENIED' && statusAt(task, now) === 'open';
    if (!withdraws || pending === undefined) return decision;
    pending.status = 'withdrawn';
    return move(task, 'task.claim_withdrawn', { actor: agent });
  }
  if (action === 'cancel') endClaims(task, 'pending', 'rejected');
  if (action === 'unclaim') endClaims(task, 'accepted', 'withdrawn');
  if (action === 'reject') endClaims(task, 'accepted', 'rejected');
  if (decision === 'open') {
    task.assigned = null;
    if (task.expires_at <= now) task.expires_at = new Date(now.getTime() + task.ttlMs);
  }
  return move(task, moves[action].event, { to: decision, actor: agent });
}

export function submit(task: ModelTask, agent: Agent, now: Date, failed: boolean): Outcome {
  const to = decideSubmit(stateOf(task), failed, agent.aid, now);
  if (typeof to === 'object') return to;
  return move(task, failed ? 'task.failed' : 'task.submitted', { to, actor: agent });
}

export function delegation(parent: ModelTask, agent: Agent, now: Date, child: ModelTask): Outcome {
  const refused = refuseSubtask(stateOf(parent), agent.aid, now);
  return refused === undefined ? creation(child, parent) : { refused };
}

export function post(task: ModelTask, agent: Agent, now: Date): Outcome {
  const refused = refuseMessage(stateOf(task), holdsLive(task, agent), agent.aid, now);
  return refused === undefined ? move(task, 'task.message_posted', { actor: agent }) : { refused };
}

export function sweep(tasks: readonly ModelTask[], now: Date): Outcome {
  const due = tasks.filter((task) => task.status !== 'expired' && statusAt(task, now) === 'expired');
  const changes = due.flatMap((task) => {
    for (const held of liveClaims(task)) held.status = 'rejected';
    const outcome = move(task, 'task.expired', { to: 'expired' });
    return 'changes' in outcome ? outcome.changes : [];
  });
  return { changes };
}
