import { GetTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import type { BatchStatement } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { byAgent, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { type Claim, type Message, Prisma, type Task } from '../generated/prisma/client.js';
import { callerAid, taskId } from '../task/fields.js';
import {
  type Aggregated,
  presentClaim,
  presentMessage,
  presentSummary,
  presentTask,
  summaryColumns,
} from '../task/present.js';

/** A task with its claims, subtasks and thread, oldest first. */
export const getTask = byAgent(
  fieldsOf(GetTaskRequestSchema)({ aid: callerAid, id: taskId }),
  async (context: Context, { id }) => {
    const now = context.clock.now();
    const task = await context.database.batch(details, { id });
    if (task === undefined) throw new AppError('TASK_NOT_FOUND');
    return {
      task: presentTask(task, now),
      claims: task.claims?.map((claim) => presentClaim(claim, task, now)) ?? [],
      subtasks: task.subtasks?.map((subtask) => presentSummary(subtask, now)) ?? [],
      messages: task.messages?.map(presentMessage) ?? [],
    };
  },
);

type Details = Task & {
  readonly claims: readonly Aggregated<Claim>[] | null;
  readonly subtasks: readonly Aggregated<Task>[] | null;
  readonly messages: readonly Aggregated<Message>[] | null;
};

const namesOf = (columns: object) => Object.keys(columns).join(', ');
const byTime = { order: ['created_at', 'id'], key: 'id' };
const byPosition = { order: ['position'], key: 'position' };
const claims = { table: 'claim', columns: namesOf(Prisma.ClaimScalarFieldEnum), of: 'claim.task_id', ...byTime };
const subtasks = { table: 'task AS subtask', columns: summaryColumns, of: 'subtask.parent_id', ...byTime };
const messages = {
  table: 'message',
  columns: namesOf(Prisma.MessageScalarFieldEnum),
  of: 'message.task_id',
  ...byPosition,
};
const taskColumns = Object.keys(Prisma.TaskScalarFieldEnum).map((name) => `task.${name}`);

interface Part {
  readonly table: string;
  readonly columns: string;
  /** The column that names the task. */
  readonly of: string;
  /** Oldest first. */
  readonly order: readonly string[];
  /** Unique within the task. */
  readonly key: string;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/**
 * The newest rows of a table as a JSON array, oldest first: so many at most, and no more bytes of JSON than that. Rows are measured one by one
 * and read again where they fit, so that PostgreSQL never holds more of them; OFFSET 0 keeps it from carrying them along.
 */
const newest = ({ table, columns, of, order, key, maxRows, maxBytes }: Part) => {
  const newestFirst = order.map((column) => `${column} DESC`).join(', ');
  return `(
  SELECT json_agg(row_to_json(part) ORDER BY ${order.map((column) => `part.${column}`).join(', ')})
  FROM (
    SELECT ${key}, sum(bytes) OVER (ORDER BY ${newestFirst}) AS bytes FROM (
      SELECT ${order.join(', ')}, octet_length(row_to_json(found)::text) AS bytes FROM (
        SELECT ${columns} FROM ${table} WHERE ${of} = task.id ORDER BY ${newestFirst} LIMIT ${maxRows}
      ) AS found OFFSET 0
    ) AS measured
  ) AS chosen CROSS JOIN LATERAL (
    SELECT ${columns} FROM ${table} WHERE ${of} = task.id AND ${key} = chosen.${key}
  ) AS part WHERE bytes <= ${maxBytes})`;
};

const mebibyte = 2 ** 20;

/** One round trip, in which PostgreSQL builds 7 MiB at most. */
const details: BatchStatement<{ readonly id: string }, Details> = {
  name: 'task details',
  columns: { id: 'uuid' },
  key: ({ id }) => id,
  readOnly: true,
  maxInputs: 8,
  text: `
    SELECT task.id AS key, ${taskColumns.join(', ')},
      ${newest({ ...claims, maxRows: 200, maxBytes: mebibyte })} AS claims,
      CASE WHEN task.subtasks_count > 0 THEN ${newest({ ...subtasks, maxRows: 200, maxBytes: 2 * mebibyte })} END AS subtasks,
      ${newest({ ...messages, maxRows: 500, maxBytes: 4 * mebibyte })} AS messages
    FROM input JOIN task ON task.id = input.id`,
};
