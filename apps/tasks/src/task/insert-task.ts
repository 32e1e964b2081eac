import { type BatchStatement, newId } from '@acsp/database';
import { AppError, type ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/rpc';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from '../context.js';
import { Prisma, type Task } from '../generated/prisma/client.js';
import type { TaskPriority } from '../generated/prisma/enums.js';
import { columnList } from './columns.js';
import { notOver } from './conditions.js';
import { type Happening, happeningColumns, recorded } from './record.js';
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
  const creation: Creation = {
    ...row,
    aid: row.creator_aid,
    says: `${row.creator_name} created the task`,
    note: null,
    at: row.created_at,
    message_id: newId(),
    event_id: newId(),
  };
  const statement = row.parent_id === null ? insertRoot : insertSubtask;
  const inherited = await context.database.batch(statement, creation);
  if (inherited !== undefined) return { ...row, ...inherited };
  throw new AppError(await whyRefused(context, row));
}

/** What a subtask has from its parent. */
type Inherited = Pick<Task, 'depth' | 'workspace_id' | 'group_id'>;
type NewTask = Omit<Task, 'depth'>;

function newRow(draft: Draft, creator: Agent, now: Date): NewTask {
  return {
    id: newId(),
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

/** What of a new task is written; the other columns have their defaults. */
const written = {
  id: 'uuid',
  creator_aid: 'text',
  creator_name: 'text',
  parent_id: 'uuid',
  title: 'text',
  description: 'text',
  requirements: 'text[]',
  tags: 'text[]',
  priority: 'task_priority',
  deadline: 'timestamptz',
  ttl_minutes: 'int',
  expires_at: 'timestamptz',
  target_aid: 'text',
  max_claims: 'int',
  metadata: 'jsonb',
  created_at: 'timestamptz',
  workspace_id: 'uuid',
  group_id: 'uuid',
} as const satisfies Partial<Record<keyof NewTask, string>>;

type Creation = Pick<NewTask, keyof typeof written> & Happening;

const columns = { ...written, ...happeningColumns };
const { workspace_id, group_id, ...given } = columns;
const newColumns = Prisma.raw([...Object.keys(written), 'depth'].join(', '));

/** From `changed`, the new tasks: their rows and what they leave behind. */
const inserted = (key: 'id' | 'parent_id') => Prisma.sql`
  inserted AS (
    INSERT INTO task (${newColumns})
    SELECT ${newColumns} FROM changed
  ),
  ${recorded({ event: Prisma.sql`'task.created'` })}
  SELECT ${Prisma.raw(key)} AS key, depth, workspace_id, group_id FROM changed`;

const asNew = Prisma.sql`
  'open'::task_status AS status, NULL::text AS assigned_aid, NULL::task_status AS previous_status, NULL::text AS previous_assigned_aid`;

const insertRoot: BatchStatement<Creation, Inherited> = {
  columns,
  key: ({ id }) => id,
  text: Prisma.sql`
    , changed AS (SELECT ${columnList(given, 'input')}, ${asNew}, 1 AS depth, input.workspace_id, input.group_id FROM input),
    ${inserted('id')}`.text,
};

/** Inserts nothing where the parent does not take the subtask, by the rules of refuseSubtask on its row as it is; else the parent counts it. */
const insertSubtask: BatchStatement<Creation, Inherited> = {
  columns,
  key: ({ parent_id }) => parent_id ?? '',
  text: Prisma.sql`
    , parent AS (
      UPDATE task SET subtasks_count = task.subtasks_count + 1 FROM input
      WHERE task.id = input.parent_id AND input.aid IN (task.creator_aid, task.assigned_aid) AND task.depth < 3
        AND ${notOver('task', Prisma.sql`input.at`)}
      RETURNING task.id, task.depth, task.workspace_id, task.group_id
    ),
    changed AS (
      SELECT ${columnList(given, 'input')}, ${asNew}, parent.depth + 1 AS depth, coalesce(parent.workspace_id, input.workspace_id) AS workspace_id,
        coalesce(parent.group_id, input.group_id) AS group_id
      FROM input JOIN parent ON parent.id = input.parent_id
    ),
    ${inserted('parent_id')}`.text,
};

async function whyRefused({ database }: Context, row: NewTask): Promise<ErrorCode> {
  const parent = await database.prisma.task.findUnique({ where: { id: row.parent_id ?? '' } });
  if (parent === null) return 'PARENT_NOT_FOUND';
  // A parent that would take it now has just changed hands or state; it was closed to this agent when it asked.
  return refuseSubtask(parent, row.creator_aid, row.created_at) ?? 'PARENT_CLOSED';
}
