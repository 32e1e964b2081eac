import type { CreateTaskRequestSchema, CreateTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { integer, time, uuid } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import type { Context } from '../context.js';
import {
  callerAid,
  description,
  priority,
  requirements,
  tags,
  targetAid,
  taskMetadata,
  title,
} from '../task/fields.js';
import { insertTask } from '../task/insert-task.js';
import { toTask } from '../task/present.js';

/** A new open task, or a subtask when parent_id names one that takes it. */
export async function createTask(context: Context, request: CreateTask, creator: Agent) {
  const { deadline, ...draft } = request;
  const row = await insertTask(context, { ...draft, deadline: deadline && timestampDate(deadline) }, creator);
  return { task: toTask(row, row.created_at) } satisfies MessageInitShape<typeof CreateTaskResponseSchema>;
}

type CreateTask = z.infer<typeof createTaskInput>;

export const createTaskInput = z
  .object({
    aid: callerAid,
    title,
    description,
    requirements: requirements.default([]),
    tags: tags.default([]),
    priority: priority.default('normal'),
    deadline: time({ code: 'INVALID_DEADLINE' }).optional(),
    ttl_minutes: integer(1, 43_200).default(1440),
    target_aid: targetAid.optional(),
    max_claims: integer(1, 100).default(1),
    workspace_id: uuid('INVALID_WORKSPACE_ID').optional(),
    group_id: uuid('INVALID_GROUP_ID').optional(),
    parent_id: uuid('INVALID_PARENT_ID').optional(),
    metadata: taskMetadata.default({}),
  })
  .transform(({ ttl_minutes, target_aid, max_claims, workspace_id, group_id, parent_id, ...same }) => ({
    ...same,
    ttlMinutes: ttl_minutes,
    targetAid: target_aid,
    maxClaims: max_claims,
    workspaceId: workspace_id,
    groupId: group_id,
    parentId: parent_id,
  })) satisfies z.ZodType<MessageInitShape<typeof CreateTaskRequestSchema>>;
