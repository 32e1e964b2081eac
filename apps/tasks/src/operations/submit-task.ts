import type { SubmitTaskRequestSchema, SubmitTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { jsonObject, text } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { callerAid, remark, taskId } from '../task/fields.js';
import { moveStatement, moveTask } from '../task/move-task.js';
import { withComment } from '../task/record.js';
import { decideSubmit } from '../task/state.js';

/** The assigned agent hands in its result, or says that it failed. */
export async function submitTask(context: Context, request: SubmitTask, agent: Agent) {
  const { taskId, resultText, result, failed, failureReason } = request;
  const at = context.clock.now();
  const reason = failed ? failureReason : undefined;
  const asked = {
    task_id: taskId,
    aid: agent.aid,
    says: failed ? withComment(`${agent.name} gave up`, reason) : `${agent.name} submitted a result`,
    note: reason ?? null,
    at,
    failed,
    result_text: resultText,
    result: result ?? null,
  };
  const { moved_to: status } = await moveTask(context, submission, asked, (task) => {
    const decision = decideSubmit(task, failed, agent.aid, at);
    return typeof decision === 'object' ? decision.refused : 'INVALID_STATUS';
  });
  return { taskId, status, message: messages[status] } satisfies MessageInitShape<typeof SubmitTaskResponseSchema>;
}

const messages: Partial<Record<TaskStatus, string>> = {
  review: 'Result submitted; the creator approves or rejects it',
  done: 'Result submitted and approved',
  failed: 'Task failed',
};

interface Submission {
  readonly failed: boolean;
  readonly result_text: string;
  readonly result: JsonObject | null;
}

const submission = moveStatement<Submission>({
  columns: { failed: 'boolean', result_text: 'text', result: 'jsonb' },
  guard: Prisma.sql`before.assigned_aid = before.aid
    AND (before.status = 'in_progress' OR before.status = 'claimed' AND before.expires_at > before.at)`,
  set: Prisma.sql`
    status = CASE WHEN before.failed THEN 'failed' WHEN before.creator_aid = before.assigned_aid THEN 'done' ELSE 'review' END::task_status,
    completed_at = CASE WHEN before.failed OR before.creator_aid = before.assigned_aid THEN before.at END,
    result_text = before.result_text, result = before.result, failure_reason = before.note`,
  event: Prisma.sql`CASE changed.status WHEN 'failed' THEN 'task.failed' WHEN 'done' THEN 'task.approved' ELSE 'task.submitted' END`,
});

type SubmitTask = z.infer<typeof submitTaskInput>;

export const submitTaskInput = z
  .object({
    aid: callerAid,
    task_id: taskId,
    result_text: text({ max: 4096, missing: 'MISSING_RESULT_TEXT', code: 'INVALID_RESULT_TEXT', clean: true }),
    result: jsonObject({ code: 'INVALID_RESULT', maxBytes: 64 * 1024 }).optional(),
    failed: z.boolean('INVALID_FIELD').default(false),
    failure_reason: remark.optional(),
  })
  .transform(({ task_id, result_text, failure_reason, ...same }) => ({
    ...same,
    taskId: task_id,
    resultText: result_text,
    failureReason: failure_reason,
  })) satisfies z.ZodType<MessageInitShape<typeof SubmitTaskRequestSchema>>;
