import { AppError, type ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/rpc';
import type { JsonObject } from '@bufbuild/protobuf';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.js';
import { Prisma, type Task } from '../generated/prisma/client.js';
import type { TaskPriority } from '../generated/prisma/enums.js';
import { taskColumns } from './columns.js';
import { recorded } from './record.js';
import { refuseSubtask } from './state.js';

/** A task as an agent asks for it. */
export interface Draft {
  readonly title: string;
  readonly description: string;
  readonly requirements: readonly string[];
  readonly tags: readonly string[];
  readonly priority: TaskPriority;
  readonly deadline?: Date | undefined;
  readonly ttlMinutes: number;
  readonly targetAid?: string | undefined;
  readonly maxClaims: number;
  readonly workspaceId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly parentId?: string | undefined;
  readonly metadata: JsonObject;
}

/** Writes a new task: a root, or a subtask of a parent that takes one from this agent. */
export async function insertTask(context: Context, draft: Draft, creator: Agent): Promise<Task> {
  if (draft.targetAid !== undefined) await requireActive(context, draft.targetAid, creator.requestId);
  const now = context.clock.now();
  const [row] = await context.database.query<Task>(insertStatement(draft, creator, now));
  if (row !== undefined) return row;
  throw new AppError(await whyRefused(context, draft.parentId, creator.aid, now));
}

async function requireActive({ identity }: Context, aid: string, requestId: string): Promise<void> {
  const { agents } = await identity.batchGetAgents({ aids: [aid] }, { requestId });
  if (agents.length === 0)
    throw new AppError('AID_NOT_FOUND', { detail: 'No active agent with the AID of target_aid' });
}

/** Inserts nothing where the parent does not take the subtask; the parent counts it in the same statement. */
function insertStatement(draft: Draft, creator: Agent, now: Date): Prisma.Sql {
  const expiresAt = new Date(now.getTime() + draft.ttlMinutes * 60_000);
  return Prisma.sql`
    WITH parent AS (${draft.parentId === undefined ? noParent : takingParent(draft.parentId, creator.aid, now)}),
    changed AS (
      INSERT INTO task (
        id, creator_aid, creator_name, parent_id, depth, title, description, requirements, tags, priority, deadline, ttl_minutes, expires_at,
        target_aid, max_claims, workspace_id, group_id, metadata, created_at
      )
      SELECT
        ${uuidv7()}::uuid, ${creator.aid}, ${creator.name}, parent.id, parent.depth + 1, ${draft.title}, ${draft.description},
        ${draft.requirements}::text[], ${draft.tags}::text[], ${draft.priority}::task_priority, ${draft.deadline ?? null}::timestamptz,
        ${draft.ttlMinutes}::int, ${expiresAt}::timestamptz, ${draft.targetAid ?? null}, ${draft.maxClaims}::int,
        coalesce(parent.workspace_id, ${draft.workspaceId ?? null}::uuid), coalesce(parent.group_id, ${draft.groupId ?? null}::uuid),
        ${JSON.stringify(draft.metadata)}::jsonb, ${now}::timestamptz
      FROM parent
      RETURNING ${taskColumns('task')}, NULL::task_status AS previous_status, NULL::text AS previous_assigned_aid
    ),
    ${recorded({ event: 'task.created', says: `${creator.name} created the task`, actorAid: creator.aid, now })}
    SELECT ${taskColumns('changed')} FROM changed`;
}

const noParent = Prisma.sql`SELECT NULL::uuid AS id, 0 AS depth, NULL::uuid AS workspace_id, NULL::uuid AS group_id`;

/** The same rules as refuseSubtask, on the locked row. */
const takingParent = (id: string, aid: string, now: Date) => Prisma.sql`
  UPDATE task SET subtasks_count = subtasks_count + 1
  WHERE id = ${id}::uuid AND ${aid} IN (creator_aid, assigned_aid) AND depth < 3
    AND (status IN ('in_progress', 'review') OR status IN ('open', 'claimed') AND expires_at > ${now}::timestamptz)
  RETURNING id, depth, workspace_id, group_id`;

async function whyRefused(context: Context, parentId: string | undefined, aid: string, now: Date): Promise<ErrorCode> {
  const parent = await context.database.prisma.task.findUnique({ where: { id: parentId ?? '' } });
  if (parent === null) return 'PARENT_NOT_FOUND';
  // A parent that would take it now has just changed hands or state; it was closed to this agent when it asked.
  return refuseSubtask(parent, aid, now) ?? 'PARENT_CLOSED';
}
