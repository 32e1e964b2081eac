import { agent } from '@acsp/testkit';
import type { TaskStatus } from '../src/generated/prisma/enums.js';
import { applied, type Decision } from '../src/task/change.js';
import type { LiveClaim, TaskState } from '../src/task/state.js';
import { nowhere } from './steps.js';

// Tasks for tests of the pure rules.

export const at = new Date('2026-01-01T12:00:00Z');
export const later = new Date('2026-01-01T13:00:00Z');
/** The registration time of every agent here. */
export const since = new Date('2025-01-01T00:00:00Z');

type Person = Pick<ReturnType<typeof agent>, 'aid' | 'name'>;
export const [creator, worker, outsider]: [Person, Person, Person] = [
  agent('Creator'),
  agent('Worker'),
  agent('Outsider'),
];

export const statuses = ['open', 'claimed', 'in_progress', 'review', 'done', 'failed', 'cancelled', 'expired'] as const;

export const by = ({ aid, name }: Person) => ({ aid, name, since, at });

export const claimOf = ({ aid, name }: Person, id = 'held', status: LiveClaim['status'] = 'pending'): LiveClaim => ({
  ...{ id, agent_aid: aid, agent_name: name, agent_since: since, status },
});

export const unclaimed: TaskState = {
  ...{ id: nowhere, version: 7, title: 'Count stones', status: 'open', depth: 1, max_claims: 1, ttl_minutes: 1440 },
  ...{ creator_aid: creator.aid, creator_since: since, target_aid: null, workspace_id: null, group_id: null },
  ...{ expires_at: later, assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null },
  ...{ completed_at: null, claims: [] },
};

/** A task that an agent has claimed. */
export const holding = (holder: Person): TaskState => ({
  ...{ ...unclaimed, status: 'claimed', claimed_at: since, claims: [claimOf(holder, 'held', 'accepted')] },
  ...{ assigned_aid: holder.aid, assigned_name: holder.name },
});

/** A task in a status, worked on by the worker where anybody has. */
export function taskAs(status: TaskStatus): TaskState {
  const alone = status === 'open' || status === 'cancelled' || status === 'expired';
  const ended = status === 'done' || status === 'failed';
  return { ...(alone ? unclaimed : holding(worker)), status, completed_at: ended ? since : null };
}

/** A decision in short, `result` being the refusal or the status to which it leads, and the task afterwards. */
export function outcome(task: TaskState, decision: Decision) {
  if ('refused' in decision) return { result: decision.refused };
  const after = applied(task, decision);
  return { result: after.status, change: decision, after };
}
