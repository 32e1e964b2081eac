import { SubmitTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent, callerAid, fieldsOf, jsonObject, text } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { changeTask } from '../task/change-task.js';
import { decideSubmit } from '../task/decide.js';
import { actorOf, comment, taskId } from '../task/fields.js';

/** The assigned agent hands in its result, or says that it failed. */
export const submitTask = byAgent(
  fieldsOf(SubmitTaskRequestSchema)({
    aid: callerAid,
    task_id: taskId,
    result_text: text({ max: 4096, missing: 'MISSING_RESULT_TEXT', code: 'INVALID_RESULT_TEXT', clean: true }),
    result: jsonObject({ code: 'INVALID_RESULT', maxBytes: 64 * 1024 }).optional(),
    failed: z.boolean('INVALID_FIELD').default(false),
    failure_reason: comment.optional(),
  }),
  (context: Context, input, agent, call) => {
    const { task_id, result_text, result = null, failed, failure_reason = null } = input;
    return changeTask(context, {
      id: task_id,
      call,
      decide: (task, at) => decideSubmit(task, { ...actorOf(agent), at, failed, result_text, result, failure_reason }),
      answer: ({ after: { status } }) => ({ task_id, status, message: messages[status] ?? '' }),
    });
  },
);

const messages: Partial<Record<TaskStatus, string>> = {
  review: 'Result submitted; the creator approves or rejects it',
  done: 'Result submitted and approved',
  failed: 'Task failed',
};
