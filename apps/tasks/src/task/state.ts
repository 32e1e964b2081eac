import type { Claim, Task } from '../generated/prisma/client.js';
import type { ClaimStatus, TaskStatus } from '../generated/prisma/enums.js';

/** Statuses that nothing leaves. */
export const terminal = ['done', 'failed', 'cancelled', 'expired'] as const satisfies readonly TaskStatus[];

/** Statuses that run out at expires_at. */
export const expiring = ['open', 'claimed'] as const satisfies readonly TaskStatus[];

/** Statuses in which the assigned agent may submit. */
export const submittable = ['claimed', 'in_progress'] as const satisfies readonly TaskStatus[];

/** Claims that count. */
export const live = ['pending', 'accepted'] as const satisfies readonly ClaimStatus[];

export interface LiveClaim extends Readonly<Pick<Claim, 'id' | 'agent_aid' | 'agent_name' | 'agent_since'>> {
  readonly status: (typeof live)[number];
}

/** The columns of a task that rules look at or changes set. */
export const stateColumns = [
  ...(['id', 'version', 'title', 'creator_aid', 'creator_since', 'target_aid', 'max_claims', 'ttl_minutes'] as const),
  ...(['depth', 'workspace_id', 'group_id', 'status', 'expires_at', 'assigned_aid', 'assigned_name'] as const),
  ...(['claimed_at', 'started_at', 'completed_at'] as const),
];

/** A task as the rules see it. */
export type TaskState = Readonly<Pick<Task, (typeof stateColumns)[number]>> & { readonly claims: readonly LiveClaim[] };

export const includes = <T>(list: readonly T[], item: unknown): item is T =>
  (list as readonly unknown[]).includes(item);

/** The status as everybody sees it: a task that ran out is expired before its row says so. */
export function statusAt({ status, expires_at }: Pick<TaskState, 'status' | 'expires_at'>, now: Date): TaskStatus {
  return includes(expiring, status) && expires_at <= now ? 'expired' : status;
}

/** An agent in one of its lives. */
export interface Life {
  readonly aid: string;
  /** The registration time, which differs after it was deleted and registered again; the epoch where nobody said it. */
  readonly since: Date;
}

const isSame = (since: Date, life: Life) => life.since.getTime() === 0 || since.getTime() === life.since.getTime();

// A deletion is carried out a moment later. Until then a new life must not act on what the former one created or holds.

export const isCreator = (task: TaskState, by: Life): boolean =>
  task.creator_aid === by.aid && isSame(task.creator_since, by);

export const holdsClaim = (task: TaskState, by: Life): boolean =>
  task.claims.some(({ agent_aid, agent_since }) => agent_aid === by.aid && isSame(agent_since, by));

/** The assignment outlives the claim where a task ran out, so only a claim of another life speaks against it. */
export const isAssigned = (task: TaskState, by: Life): boolean =>
  task.assigned_aid === by.aid &&
  !task.claims.some(
    ({ agent_aid, agent_since, status }) => agent_aid === by.aid && status === 'accepted' && !isSame(agent_since, by),
  );
