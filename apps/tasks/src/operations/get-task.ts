import { GetTaskRequestSchema, type GetTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { byAgent, callerAid, fieldsOf, type PublicOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { readDetails } from '../task/details.js';
import { taskId } from '../task/fields.js';
import { presentClaim, presentMessage, presentSummary, presentTask } from '../task/present.js';

/** A task with its claims, subtasks and thread, oldest first. Agents that read one task at the same time share the reading and the answer. */
export const getTask = byAgent(
  fieldsOf(GetTaskRequestSchema)({ aid: callerAid, id: taskId }),
  (context: Context, { id }) => context.details(id, async () => Object.freeze(await present(context, id))),
);

export type Details = PublicOf<typeof GetTaskResponseSchema>;

async function present(context: Context, id: string): Promise<Details> {
  const now = context.clock.now();
  const task = await readDetails(context, id);
  if (task === undefined) throw new AppError('TASK_NOT_FOUND');
  return {
    task: presentTask(task, now),
    claims: task.claims?.map((claim) => presentClaim(claim, task, now)) ?? [],
    subtasks: task.subtasks?.map((subtask) => presentSummary(subtask, now)) ?? [],
    messages: task.messages?.map(presentMessage) ?? [],
  };
}
