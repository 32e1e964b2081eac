import type { ClaimSchema, MessageSchema, TaskSchema, TaskSummarySchema } from '@acsp/contracts/tasks/v1/tasks';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Claim, Message, Task } from '../generated/prisma/client.js';
import { statusAt } from './state.js';

// Rows as messages of the contract.

/** A row as PostgreSQL's json functions give it: times are text. */
export type Aggregated<Row> = { [Key in keyof Row]: Date extends Row[Key] ? Row[Key] | string : Row[Key] };

type SummaryRow = Aggregated<Omit<Task, 'metadata' | 'result'>>;

const time = (value: Date | string) => timestampFromDate(typeof value === 'string' ? new Date(value) : value);
const maybeTime = (value: Date | string | null) => (value === null ? undefined : time(value));
const maybe = <T>(value: T | null): T | undefined => value ?? undefined;

/** A task that has run out shows as expired, its live claims as rejected, before its row says so. */
const ranOut = ({ status, expires_at }: Pick<SummaryRow, 'status' | 'expires_at'>, now: Date) =>
  status !== 'expired' && statusAt({ status, expires_at: new Date(expires_at) }, now) === 'expired';

export function toSummary(row: SummaryRow, now: Date) {
  const expired = ranOut(row, now);
  return {
    id: row.id,
    creatorAid: row.creator_aid,
    creatorName: row.creator_name,
    parentId: maybe(row.parent_id),
    title: row.title,
    description: row.description,
    requirements: row.requirements,
    tags: row.tags,
    status: expired ? 'expired' : row.status,
    priority: row.priority,
    deadline: maybeTime(row.deadline),
    expiresAt: time(row.expires_at),
    assignedAid: maybe(row.assigned_aid),
    claimsCount: expired ? 0 : row.claims_count,
    subtasksCount: row.subtasks_count,
    createdAt: time(row.created_at),
  } satisfies MessageInitShape<typeof TaskSummarySchema>;
}

export function toTask(row: Task, now: Date) {
  return {
    ...toSummary(row, now),
    assignedName: maybe(row.assigned_name),
    targetAid: maybe(row.target_aid),
    maxClaims: row.max_claims,
    result: maybe(row.result as JsonObject | null),
    resultText: maybe(row.result_text),
    failureReason: maybe(row.failure_reason),
    workspaceId: maybe(row.workspace_id),
    groupId: maybe(row.group_id),
    metadata: row.metadata as JsonObject,
    claimedAt: maybeTime(row.claimed_at),
    startedAt: maybeTime(row.started_at),
    completedAt: maybeTime(row.completed_at),
  } satisfies MessageInitShape<typeof TaskSchema>;
}

export function toClaim(row: Aggregated<Claim>, task: Pick<Task, 'status' | 'expires_at'>, now: Date) {
  const rejected = ranOut(task, now) && (row.status === 'pending' || row.status === 'accepted');
  return {
    id: row.id,
    taskId: row.task_id,
    agentAid: row.agent_aid,
    agentName: row.agent_name,
    status: rejected ? 'rejected' : row.status,
    message: maybe(row.message),
    etaMinutes: maybe(row.eta_minutes),
    matchScore: maybe(row.match_score),
    createdAt: time(row.created_at),
    resolvedAt: rejected ? time(task.expires_at) : maybeTime(row.resolved_at),
  } satisfies MessageInitShape<typeof ClaimSchema>;
}

export function toMessage(row: Aggregated<Message>) {
  return {
    id: row.id,
    taskId: row.task_id,
    senderAid: maybe(row.sender_aid),
    senderName: row.sender_name,
    msgType: row.msg_type,
    content: row.content,
    metadata: row.metadata as JsonObject,
    createdAt: time(row.created_at),
  } satisfies MessageInitShape<typeof MessageSchema>;
}
