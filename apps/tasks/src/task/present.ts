import type { ClaimSchema, MessageSchema, TaskSchema, TaskSummarySchema } from '@acsp/contracts/tasks/v1/tasks';
import type { PublicOf } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Claim, Message, Task } from '../generated/prisma/client.js';
import { statusAt } from './state.js';

/** A row as PostgreSQL's json functions give it: times are text. */
export type Aggregated<Row> = { [Key in keyof Row]: Date extends Row[Key] ? Row[Key] | string : Row[Key] };

type SummaryRow = Aggregated<Omit<Task, 'metadata' | 'result' | 'version'>>;

function time(value: Date | string): Date;
function time(value: Date | string | null): Date | null;
function time(value: Date | string | null): Date | null {
  return typeof value === 'string' ? new Date(value) : value;
}

/** A task that has run out shows as expired, its live claims as rejected, before its row says so. */
const ranOut = ({ status, expires_at }: Pick<SummaryRow, 'status' | 'expires_at'>, now: Date) =>
  status !== 'expired' && statusAt({ status, expires_at: time(expires_at) }, now) === 'expired';

/** The columns of a task that lists show, by name: a prepared statement with a star fails for good once a migration adds a column. */
export const summaryColumns =
  'id, creator_aid, creator_name, parent_id, title, description, requirements, tags, status, priority, deadline, expires_at, ' +
  'assigned_aid, claims_count, subtasks_count, created_at';

export function presentSummary(row: SummaryRow, now: Date): PublicOf<typeof TaskSummarySchema> {
  const expired = ranOut(row, now);
  return {
    ...row,
    status: expired ? 'expired' : row.status,
    claims_count: expired ? 0 : row.claims_count,
    deadline: time(row.deadline),
    expires_at: time(row.expires_at),
    created_at: time(row.created_at),
  };
}

export function presentTask(row: Omit<Task, 'version'>, now: Date): PublicOf<typeof TaskSchema> {
  const { result, metadata } = row;
  return { ...row, ...presentSummary(row, now), result: result as JsonObject | null, metadata: metadata as JsonObject };
}

type ClaimRow = Omit<Aggregated<Claim>, 'agent_since'>;

export function presentClaim(
  row: ClaimRow,
  task: Pick<Task, 'status' | 'expires_at'>,
  now: Date,
): PublicOf<typeof ClaimSchema> {
  const rejected = ranOut(task, now) && (row.status === 'pending' || row.status === 'accepted');
  return {
    ...row,
    status: rejected ? 'rejected' : row.status,
    created_at: time(row.created_at),
    resolved_at: rejected ? task.expires_at : time(row.resolved_at),
  };
}

export const presentMessage = (row: Aggregated<Message>): PublicOf<typeof MessageSchema> => ({
  ...row,
  metadata: row.metadata as JsonObject,
  created_at: time(row.created_at),
});
