import { AppError, type ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/rpc';
import type { JsonObject } from '@bufbuild/protobuf';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.js';
import { Prisma, type Task } from '../generated/prisma/client.js';
import type { TaskPriority } from '../generated/prisma/enums.js';
import { notOver } from './conditions.js';
import { recorded } from './record.js';
import { refuseSubtask } from './state.js';

/** A task as an agent asks for it. */
export interface Draft {
  readonly title: string;
  readonly description: string;
  readonly requirements: readonly string[];
  readonly tags: readonly string[];
  readonly priority: TaskPriority;
  readonly deadline?: Date;
  readonly ttlMinutes: number;
  readonly targetAid?: string;
  readonly maxClaims: number;
  readonly workspaceId?: string;
  readonly groupId?: string;
  readonly parentId?: string;
  readonly metadata: JsonObject;
}

/** Writes a new task: a root, or a subtask of a parent that takes one from this agent. */
export async function insertTask(context: Context, draft: Draft, creator: Agent): Promise<Task> {
  if (draft.targetAid !== undefined) await requireActive(context, draft.targetAid, creator.requestId);
  const row = newRow(draft, creator, context.clock.now());
  const [inherited] = await context.database.query<Inherited>(insertStatement(row));
  if (inherited !== undefined) return { ...row, ...inherited };
  throw new AppError(await whyRefused(context, row));
}

/** What a subtask has from its parent. */
type Inherited = Pick<Task, 'depth' | 'workspace_id' | 'group_id'>;
type NewTask = Omit<Task, 'depth'>;

function newRow(draft: Draft, creator: Agent, now: Date): NewTask {
  return {
    id: uuidv7(),
    creator_aid: creator.aid,
    creator_name: creator.name,
    parent_id: draft.parentId ?? null,
    title: draft.title,
    description: draft.description,
    requirements: [...draft.requirements],
    tags: [...draft.tags],
    status: 'open',
    priority: draft.priority,
    deadline: draft.deadline ?? null,
    ttl_minutes: draft.ttlMinutes,
    expires_at: new Date(now.getTime() + draft.ttlMinutes * 60_000),
    target_aid: draft.targetAid ?? null,
    max_claims: draft.maxClaims,
    workspace_id: draft.workspaceId ?? null,
    group_id: draft.groupId ?? null,
    metadata: draft.metadata,
    created_at: now,
    ...untouched,
  };
}

/** A task that nobody has claimed. */
const untouched = {
  assigned_aid: null,
  assigned_name: null,
  claims_count: 0,
  subtasks_count: 0,
  result: null,
  result_text: null,
  failure_reason: null,
  claimed_at: null,
  started_at: null,
  completed_at: null,
};

async function requireActive({ identity }: Context, aid: string, requestId: string): Promise<void> {
  const { agents } = await identity.batchGetAgents({ aids: [aid] }, { requestId });
  if (agents.length === 0)
    throw new AppError('AID_NOT_FOUND', { detail: 'No active agent with the AID of target_aid' });
}

/** Inserts nothing where the parent does not take the subtask; the parent counts it in the same statement. */
const insertStatement = (row: NewTask) => Prisma.sql`
  WITH parent AS (${row.parent_id === null ? noParent : takingParent(row.parent_id, row.creator_aid, row.created_at)}),
  changed AS (
    INSERT INTO task (
      id, creator_aid, creator_name, parent_id, depth, title, description, requirements, tags, priority, deadline, ttl_minutes, expires_at,
      target_aid, max_claims, workspace_id, group_id, metadata, created_at
    )
    SELECT
      ${row.id}::uuid, ${row.creator_aid}, ${row.creator_name}, parent.id, parent.depth + 1, ${row.title}, ${row.description},
      ${row.requirements}::text[], ${row.tags}::text[], ${row.priority}::task_priority, ${row.deadline}::timestamptz, ${row.ttl_minutes}::int,
      ${row.expires_at}::timestamptz, ${row.target_aid}, ${row.max_claims}::int,
      coalesce(parent.workspace_id, ${row.workspace_id}::uuid), coalesce(parent.group_id, ${row.group_id}::uuid),
      ${JSON.stringify(row.metadata)}::jsonb, ${row.created_at}::timestamptz
    FROM parent
    RETURNING id, title, status, creator_aid, assigned_aid, target_aid, max_claims, depth, workspace_id, group_id,
      NULL::task_status AS previous_status, NULL::text AS previous_assigned_aid
  ),
  ${recorded({ event: 'task.created', says: `${row.creator_name} created the task`, actorAid: row.creator_aid, now: row.created_at })}
  SELECT depth, workspace_id, group_id FROM changed`;

const noParent = Prisma.sql`SELECT NULL::uuid AS id, 0 AS depth, NULL::uuid AS workspace_id, NULL::uuid AS group_id`;

/** The same rules as refuseSubtask, on the locked row. */
const takingParent = (id: string, aid: string, now: Date) => Prisma.sql`
  UPDATE task SET subtasks_count = subtasks_count + 1
  WHERE id = ${id}::uuid AND ${aid} IN (creator_aid, assigned_aid) AND depth < 3
    AND ${notOver(now)}
  RETURNING id, depth, workspace_id, group_id`;

async function whyRefused({ database }: Context, row: NewTask): Promise<ErrorCode> {
  const parent = await database.prisma.task.findUnique({ where: { id: row.parent_id ?? '' } });
  if (parent === null) return 'PARENT_NOT_FOUND';
  // A parent that would take it now has just changed hands or state; it was closed to this agent when it asked.
  return refuseSubtask(parent, row.creator_aid, row.created_at) ?? 'PARENT_CLOSED';
}
