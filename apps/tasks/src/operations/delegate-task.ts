import type { DelegateTaskRequestSchema, DelegateTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { uuid } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { callerAid, description, priority, requirements, targetAid, taskMetadata, title } from '../task/fields.js';
import { insertTask } from '../task/insert-task.js';
import { toTask } from '../task/present.js';

/** A subtask by the parent's creator or assigned agent, who becomes its creator. */
export async function delegateTask(context: Context, request: DelegateTask, delegator: Agent) {
  const row = await insertTask(context, { ...request, tags: [], ttlMinutes: 1440, maxClaims: 1 }, delegator);
  return { task: toTask(row, row.created_at) } satisfies MessageInitShape<typeof DelegateTaskResponseSchema>;
}

type DelegateTask = z.infer<typeof delegateTaskInput>;

export const delegateTaskInput = z
  .object({
    aid: callerAid,
    parent_id: uuid('INVALID_PARENT_ID'),
    title,
    description,
    requirements: requirements.default([]),
    target_aid: targetAid.optional(),
    priority: priority.default('normal'),
    metadata: taskMetadata.default({}),
  })
  .transform(({ parent_id, target_aid, ...same }) => ({
    ...same,
    parentId: parent_id,
    targetAid: target_aid,
  })) satisfies z.ZodType<MessageInitShape<typeof DelegateTaskRequestSchema>>;
