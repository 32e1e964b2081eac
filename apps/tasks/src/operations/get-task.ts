import type { GetTaskRequestSchema, GetTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import type { BatchStatement } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { type Claim, type Message, Prisma, type Task } from '../generated/prisma/client.js';
import { claimColumns, messageColumns, taskColumns } from '../task/columns.js';
import { callerAid, taskId } from '../task/fields.js';
import { type Aggregated, toClaim, toMessage, toSummary, toTask } from '../task/present.js';

/** A task with its claims, subtasks and thread, oldest first. */
export async function getTask(context: Context, { id }: GetTask) {
  const now = context.clock.now();
  const task = await context.database.batch(details, { id });
  if (task === undefined) throw new AppError('TASK_NOT_FOUND');
  return {
    task: toTask(task, now),
    claims: task.claims?.map((claim) => toClaim(claim, task, now)) ?? [],
    subtasks: task.subtasks?.map((subtask) => toSummary(subtask, now)) ?? [],
    messages: task.messages?.map(toMessage) ?? [],
  } satisfies MessageInitShape<typeof GetTaskResponseSchema>;
}

type Details = Task & {
  readonly claims: readonly Aggregated<Claim>[] | null;
  readonly subtasks: readonly Aggregated<Task>[] | null;
  readonly messages: readonly Aggregated<Message>[] | null;
};

interface Asked {
  readonly id: string;
}

/** One round trip. The newest 500 messages and 200 claims and subtasks, so that an answer has a bound. */
const details: BatchStatement<Asked, Details> = {
  columns: { id: 'uuid' },
  key: ({ id }) => id,
  readOnly: true,
  maxInputs: 8,
  text: Prisma.sql`
    SELECT task.id AS key, ${taskColumns('task')},
      (SELECT json_agg(c ORDER BY c.created_at, c.id)
       FROM (SELECT ${claimColumns} FROM claim WHERE task_id = task.id ORDER BY created_at DESC LIMIT 200) AS c) AS claims,
      CASE WHEN task.subtasks_count > 0 THEN
        (SELECT json_agg(s ORDER BY s.created_at, s.id)
         FROM (SELECT ${taskColumns('subtask')} FROM task AS subtask WHERE subtask.parent_id = task.id ORDER BY created_at DESC LIMIT 200) AS s)
      END AS subtasks,
      (SELECT json_agg(m ORDER BY m.created_at, m.id)
       FROM (SELECT ${messageColumns} FROM message WHERE task_id = task.id ORDER BY created_at DESC LIMIT 500) AS m) AS messages
    FROM input JOIN task ON task.id = input.id`.text,
};

type GetTask = z.infer<typeof getTaskInput>;

export const getTaskInput = z.object({ aid: callerAid, id: taskId }) satisfies z.ZodType<
  MessageInitShape<typeof GetTaskRequestSchema>
>;
