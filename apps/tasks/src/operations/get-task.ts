import { GetTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import type { BatchStatement } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { fieldsOf } from '@acsp/operation';
import type { z } from 'zod';
import type { Context } from '../context.js';
import { type Claim, type Message, Prisma, type Task } from '../generated/prisma/client.js';
import { summaryColumns } from '../task/columns.js';
import { callerAid, taskId } from '../task/fields.js';
import { type Aggregated, presentClaim, presentMessage, presentSummary, presentTask } from '../task/present.js';

/** A task with its claims, subtasks and thread, oldest first. */
export async function getTask(context: Context, { id }: z.infer<typeof getTaskInput>) {
  const now = context.clock.now();
  const task = await context.database.batch(details, { id });
  if (task === undefined) throw new AppError('TASK_NOT_FOUND');
  return {
    task: presentTask(task, now),
    claims: task.claims?.map((claim) => presentClaim(claim, task, now)) ?? [],
    subtasks: task.subtasks?.map((subtask) => presentSummary(subtask, now)) ?? [],
    messages: task.messages?.map(presentMessage) ?? [],
  };
}

type Details = Task & {
  readonly claims: readonly Aggregated<Claim>[] | null;
  readonly subtasks: readonly Aggregated<Task>[] | null;
  readonly messages: readonly Aggregated<Message>[] | null;
};

const columnsOf = (names: object, table: string) =>
  Object.keys(names)
    .map((name) => `${table}.${name}`)
    .join(', ');

interface Part {
  readonly table: string;
  readonly columns: string;
  readonly where: string;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** The newest rows of a table as a JSON array, oldest first: so many at most, and no more bytes of JSON than that. */
const newest = ({ table, columns, where, maxRows, maxBytes }: Part) => `(
  SELECT json_agg(part.row ORDER BY part.created_at, part.id) FROM (
    SELECT row, created_at, id, sum(octet_length(row::text)) OVER (ORDER BY created_at DESC, id DESC) AS bytes FROM (
      SELECT row_to_json(found) AS row, created_at, id
      FROM (SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ${maxRows}) AS found
    ) AS written
  ) AS part WHERE bytes <= ${maxBytes})`;

const mebibyte = 2 ** 20;

/** One round trip, in which PostgreSQL builds 7 MiB at most. */
const details: BatchStatement<{ readonly id: string }, Details> = {
  name: 'task details',
  columns: { id: 'uuid' },
  key: ({ id }) => id,
  readOnly: true,
  maxInputs: 8,
  text: `
    SELECT task.id AS key, ${columnsOf(Prisma.TaskScalarFieldEnum, 'task')},
      ${newest({
        ...{ table: 'claim', columns: columnsOf(Prisma.ClaimScalarFieldEnum, 'claim') },
        ...{ where: 'claim.task_id = task.id', maxRows: 200, maxBytes: mebibyte },
      })} AS claims,
      CASE WHEN task.subtasks_count > 0 THEN ${newest({
        ...{ table: 'task AS subtask', columns: summaryColumns },
        ...{ where: 'subtask.parent_id = task.id', maxRows: 200, maxBytes: 2 * mebibyte },
      })} END AS subtasks,
      ${newest({
        ...{ table: 'message', columns: columnsOf(Prisma.MessageScalarFieldEnum, 'message') },
        ...{ where: 'message.task_id = task.id', maxRows: 500, maxBytes: 4 * mebibyte },
      })} AS messages
    FROM input JOIN task ON task.id = input.id`,
};

export const getTaskInput = fieldsOf(GetTaskRequestSchema)({ aid: callerAid, id: taskId });
