import type { ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/operation';
import type { ClaimStatus } from '../../src/generated/prisma/enums.js';
import { applied, type Decision } from '../../src/task/change.js';
import type { LiveClaim, TaskState } from '../../src/task/state.js';

/** A task beside that of the service: its state, moved by the same rules, and what the state does not hold. */
export interface Walked {
  readonly creator: Agent;
  state: TaskState;
  /** Every claim that was ever made, by its id. */
  readonly claims: Map<string, ClaimStatus>;
  subtasks_count: number;
  messages: number;
}

/** An event, and unless an agent wrote it, a log entry. */
export interface Trace {
  readonly task: string;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly actor: string | null;
}

/** A step leads to a refusal that changes nothing, or to changes. */
export type Outcome = { readonly refused: ErrorCode } | { readonly traces: readonly Trace[] };

export function created(creator: Agent, state: TaskState): Walked {
  return { creator, state, claims: new Map(), subtasks_count: 0, messages: 1 };
}

/** Moves the task as decided. */
export function follow(walked: Walked, decision: Decision): Outcome {
  if ('refused' in decision) return decision;
  const { moved = [], claim, event, actor = null } = decision;
  for (const { id, status } of [...moved, ...(claim === undefined ? [] : [claim])]) walked.claims.set(id, status);
  const before = walked.state;
  walked.state = applied(before, decision);
  walked.messages += 1;
  return { traces: [{ task: before.id, event, from: before.status, to: walked.state.status, actor }] };
}

/** An event that moves nothing: a new task, or a message. */
export const noted = ({ state }: Walked, event: string, from: string | null, { aid }: Agent): Outcome => ({
  traces: [{ task: state.id, event, from, to: state.status, actor: aid }],
});

export const isPending = ({ status }: LiveClaim): boolean => status === 'pending';
