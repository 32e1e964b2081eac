import { CreateTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent, fieldsOf, integer, time, uuid } from '@acsp/operation';
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

/** A new open task, or a subtask when parent_id names one that takes it. */
export const createTask = byAgent(
  fieldsOf(CreateTaskRequestSchema)({
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
  }),
  (context: Context, { aid: _aid, ...draft }, creator, call) => insertTask(context, draft, creator, call),
);
