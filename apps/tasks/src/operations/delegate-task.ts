import { DelegateTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent, callerAid, fieldsOf, uuid } from '@acsp/operation';
import type { Context } from '../context.js';
import { draftFields } from '../task/fields.js';
import { insertTask } from '../task/insert-task.js';

const { title, description, requirements, target_aid, priority, metadata } = draftFields;

/** A subtask by the parent's creator or assigned agent, who becomes its creator. */
export const delegateTask = byAgent(
  fieldsOf(DelegateTaskRequestSchema)({
    aid: callerAid,
    parent_id: uuid('INVALID_PARENT_ID'),
    ...{ title, description, requirements, target_aid, priority, metadata },
  }),
  (context: Context, { aid: _aid, ...draft }, delegator, call) =>
    insertTask(context, { ...draft, tags: [], ttl_minutes: 1440, max_claims: 1 }, delegator, call),
);
