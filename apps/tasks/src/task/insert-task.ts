import type { EventRow } from '@acsp/bus';
import {
  type AnswerRow,
  answerColumns,
  answerRow,
  type BatchStatement,
  keepAnswers,
  newId,
  untilWritten,
} from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Agent, type Call, lifeOf } from '@acsp/operation';
import { requireActive } from '@acsp/service';
import { noticeName } from '@acsp/text';
import type { Context } from '../context.js';
import type { Task } from '../generated/prisma/client.js';
import { insertRecords, type Record, recordColumns, recordOf } from './change-row.js';
import { refuseSubtask } from './decide.js';
import { actorOf, type TaskDraft } from './fields.js';
import { readTask, remember } from './known-tasks.js';
import { presentTask } from './present.js';
import { stateColumns, type TaskState } from './state.js';

/** Writes a new task, a root or a subtask of a parent that takes one from this agent, and answers with it. */
export async function insertTask(context: Context, draft: TaskDraft, creator: Agent, call: Call) {
  if (draft.target_aid !== undefined) await requireActive(context.targets, [draft.target_aid], 'AID_NOT_FOUND');
  return untilWritten(() => attemptInsert(context, draft, creator, call), { call });
}

/** Answers undefined where the parent has changed since it was read, or is locked. */
async function attemptInsert(context: Context, draft: TaskDraft, creator: Agent, call: Call) {
  const parent = draft.parent_id === undefined ? undefined : await parentFor(context, draft.parent_id, creator);
  const at = context.clock.now();
  const task = newTask(draft, { creator, parent, at });
  const answer = { task: presentTask(task, at) };
  const state = stateOf(task);
  const says = `${noticeName(creator.name)} created the task`;
  const row: Insertion = {
    parent_version: parent?.version ?? null,
    ...task,
    ...recordOf(undefined, state, { event: 'task.created', says, actor: creator.aid }, at),
    ...answerRow(call.once, answer),
  };
  const statement = parent === undefined ? insertRoot : insertSubtask;
  const written = await context.database.batch(statement, row, call);
  if (written === undefined) return undefined;
  remember(context, state, performance.now());
  return answer;
}

/** The parent as it is, once the rules have let the agent add to it. */
async function parentFor(context: Context, id: string, creator: Agent): Promise<TaskState> {
  const parent = await readTask(context, id);
  if (parent === undefined) throw new AppError('PARENT_NOT_FOUND');
  const refused = refuseSubtask(parent, actorOf(creator), context.clock.now());
  if (refused !== undefined) throw new AppError(refused);
  return parent;
}

interface Origin {
  readonly creator: Agent;
  readonly parent: TaskState | undefined;
  readonly at: Date;
}

type NewTask = Omit<Task, 'version'>;

function newTask(draft: TaskDraft, { creator, parent, at }: Origin): NewTask {
  return {
    id: newId(),
    creator_aid: creator.aid,
    creator_name: creator.name,
    creator_since: lifeOf(creator).since,
    parent_id: draft.parent_id ?? null,
    depth: (parent?.depth ?? 0) + 1,
    deadline: draft.deadline ?? null,
    expires_at: new Date(at.getTime() + draft.ttl_minutes * 60_000),
    target_aid: draft.target_aid ?? null,
    workspace_id: parent?.workspace_id ?? draft.workspace_id ?? null,
    group_id: parent?.group_id ?? draft.group_id ?? null,
    created_at: at,
    title: draft.title,
    description: draft.description,
    requirements: draft.requirements,
    tags: draft.tags,
    priority: draft.priority,
    ttl_minutes: draft.ttl_minutes,
    max_claims: draft.max_claims,
    metadata: draft.metadata,
    ...unclaimed,
  };
}

/** A new task as the rules see it: without its texts, which would be kept in memory. */
function stateOf(task: NewTask): TaskState {
  const row = { ...task, version: 0 };
  const state: { [column: string]: unknown } = { claims: [] };
  for (const column of stateColumns) state[column] = row[column];
  return state as unknown as TaskState;
}

/** A task that nobody has claimed. */
const unclaimed = {
  status: 'open' as const,
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

/** Columns of a new task that have no default. */
const inserted = {
  id: 'uuid',
  creator_aid: 'text',
  creator_name: 'text',
  creator_since: 'timestamptz',
  parent_id: 'uuid',
  depth: 'smallint',
  title: 'text',
  description: 'text',
  requirements: 'text[]',
  tags: 'text[]',
  status: 'task_status',
  priority: 'task_priority',
  deadline: 'timestamptz',
  ttl_minutes: 'int',
  expires_at: 'timestamptz',
  target_aid: 'text',
  max_claims: 'int',
  metadata: 'json',
  created_at: 'timestamptz',
  workspace_id: 'uuid',
  group_id: 'uuid',
} as const satisfies Partial<{ readonly [Column in keyof NewTask]: string }>;

interface Insertion extends Pick<NewTask, keyof typeof inserted>, Record, EventRow, AnswerRow {
  /** The parent takes the subtask as it was read, or not at all. */
  readonly parent_version: number | null;
}

const columns = { ...inserted, parent_version: 'int', ...recordColumns, ...answerColumns } as const;
const names = Object.keys(inserted).join(', ');

const insertion = (rows: string) => `
  inserted AS (INSERT INTO task (${names}) SELECT ${names} FROM ${rows}),
  ${insertRecords(rows)},
  ${keepAnswers(rows)}`;

const insertRoot: BatchStatement<Insertion, object> = {
  name: 'create task',
  columns,
  key: ({ id }) => id,
  text: `, ${insertion('input')} SELECT id AS key FROM input`,
};

/** Subtasks of one parent are written one after the other; the parent counts them, which is no change of its state. */
const insertSubtask: BatchStatement<Insertion, object> = {
  name: 'create subtask',
  columns,
  key: ({ parent_id }) => parent_id ?? '',
  text: `
    , made AS (
      SELECT input.* FROM input JOIN task ON task.id = input.parent_id AND task.version = input.parent_version
      FOR NO KEY UPDATE OF task SKIP LOCKED
    ),
    counted AS (UPDATE task SET subtasks_count = subtasks_count + 1 FROM made WHERE task.id = made.parent_id),
    ${insertion('made')}
    SELECT parent_id AS key FROM made`,
};
