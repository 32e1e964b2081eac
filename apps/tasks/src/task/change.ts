import type { ErrorCode } from '@acsp/errors';
import { cleanText, isBlank } from '@acsp/text';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Claim } from '../generated/prisma/client.js';
import type { ClaimStatus } from '../generated/prisma/enums.js';
import { includes, type Life, type LiveClaim, live, type TaskState } from './state.js';

// Rules and effects of tasks (interface 3.1, decisions 5) are pure functions from a task to a Decision: those of agents stand in decide.ts and
// decide-claim.ts, those of the service itself in decide-end.ts. Services, jobs and tests call these.

/** The agent that acts, and the time. */
export interface Acting extends Life {
  readonly name: string;
  readonly at: Date;
}

/** The effects of a decision. */
export interface Change {
  readonly set?: Partial<Omit<TaskState, 'claims' | 'id' | 'version'>>;
  /** Live claims that get another status. */
  readonly moved?: readonly { readonly id: string; readonly status: ClaimStatus }[];
  readonly claim?: LiveClaim & Pitch;
  readonly submission?: Submission;
  /** The type of the event, and the name of the log entry and the notice. */
  readonly event: string;
  /** The notice in the thread. */
  readonly says: string;
  readonly comment?: string | null;
  /** The claim that it is about. */
  readonly claim_id?: string | null;
  /** Absent where the service itself acts. */
  readonly actor?: string;
}

export type Pitch = Readonly<Pick<Claim, 'message' | 'eta_minutes' | 'match_score'>>;

export interface Submission {
  readonly result_text: string;
  readonly result: JsonObject | null;
  readonly failure_reason: string | null;
}

export type Decision = Change | { readonly refused: ErrorCode };

/** The task after a change. */
export function applied(task: TaskState, { set, moved = [], claim }: Change): TaskState {
  const statuses = new Map(moved.map(({ id, status }) => [id, status]));
  const kept = task.claims.map((held) => ({ ...held, status: statuses.get(held.id) ?? held.status }));
  const claims = [...kept, ...(claim === undefined ? [] : [withoutPitch(claim)])].filter(isLive);
  return { ...task, ...set, claims, version: task.version + 1 };
}

/** A task is kept in memory, so without an agent's words. */
const withoutPitch = ({ id, agent_aid, agent_name, agent_since, status }: LiveClaim): LiveClaim => {
  return { id, agent_aid, agent_name, agent_since, status };
};

const isLive = (claim: { readonly status: ClaimStatus }): claim is LiveClaim => includes(live, claim.status);

export const claimsTo = (status: ClaimStatus, claims: readonly LiveClaim[]) => claims.map(({ id }) => ({ id, status }));

const unassigned = { assigned_aid: null, assigned_name: null, claimed_at: null, started_at: null };

/** A task that goes back to open lives on for its time to live where its time has run out meanwhile. */
export const reopened = ({ expires_at, ttl_minutes }: TaskState, at: Date) => ({
  ...unassigned,
  status: 'open' as const,
  expires_at: expires_at <= at ? new Date(at.getTime() + ttl_minutes * 60_000) : expires_at,
});

/** The comment stays on the notice's own line, because a second one would pass for another notice; what is joined so may be markup, and goes. */
export function withComment(text: string, comment: string | null | undefined): string {
  const line = cleanText((comment ?? '').replace(/\s*[\n\v\f\r\x85\u2028\u2029]\s*/g, ' '));
  return isBlank(line) ? text : `${text}: ${line}`;
}
