import type { SubmitTaskRequestSchema, SubmitTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { jsonObject, text } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { callerAid, remark, taskId } from '../task/fields.js';
import { moveTask, type Step } from '../task/move-task.js';
import { withComment } from '../task/record.js';
import { decideSubmit } from '../task/state.js';

/** The assigned agent hands in its result, or says that it failed. */
export async function submitTask(context: Context, request: SubmitTask, agent: Agent) {
  const { status } = await moveTask(context, submission(request, agent, context.clock.now()));
  return { taskId: request.taskId, status, message: messages[status] } satisfies MessageInitShape<
    typeof SubmitTaskResponseSchema
  >;
}

const messages: Partial<Record<TaskStatus, string>> = {
  review: 'Result submitted; the creator approves or rejects it',
  done: 'Result submitted and approved',
  failed: 'Task failed',
};

function submission({ taskId, resultText, result, failed, failureReason }: SubmitTask, agent: Agent, now: Date): Step {
  const at = Prisma.sql`${now}::timestamptz`;
  const own = Prisma.sql`before.creator_aid = before.assigned_aid`;
  return {
    taskId,
    guard: Prisma.sql`before.assigned_aid = ${agent.aid}
      AND (before.status = 'in_progress' OR before.status = 'claimed' AND before.expires_at > ${at})`,
    set: Prisma.sql`
      status = CASE WHEN ${failed}::boolean THEN 'failed' WHEN ${own} THEN 'done' ELSE 'review' END::task_status,
      completed_at = CASE WHEN ${failed}::boolean OR ${own} THEN ${at} END,
      result_text = ${resultText}, result = ${result === undefined ? null : JSON.stringify(result)}::jsonb,
      failure_reason = ${failed ? (failureReason ?? null) : null}`,
    event: failed
      ? 'task.failed'
      : Prisma.sql`CASE changed.status WHEN 'done' THEN 'task.approved' ELSE 'task.submitted' END`,
    says: failed ? withComment(`${agent.name} gave up`, failureReason) : `${agent.name} submitted a result`,
    actorAid: agent.aid,
    note: failed ? failureReason : undefined,
    now,
    refusal: (task) => {
      const decision = decideSubmit(task, failed, agent.aid, now);
      return typeof decision === 'object' ? decision.refused : 'INVALID_STATUS';
    },
  };
}

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
