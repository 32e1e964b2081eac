import { CreateTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent, callerAid, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { draftFields } from '../task/fields.js';
import { insertTask } from '../task/insert-task.js';

/** A new open task, or a subtask when parent_id names one that takes it. */
export const createTask = byAgent(
  fieldsOf(CreateTaskRequestSchema)({ aid: callerAid, ...draftFields }),
  (context: Context, { aid: _aid, ...draft }, creator, call) => insertTask(context, draft, creator, call),
);
