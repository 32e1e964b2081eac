import { UpdateTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent, callerAid, fieldsOf, oneOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { changeTask } from '../task/change-task.js';
import { actions, decideAction } from '../task/decide.js';
import { actorOf, comment, taskId } from '../task/fields.js';

/** Moves a task along interface 3.1: start, cancel, approve, reject, unclaim. */
export const updateTask = byAgent(
  fieldsOf(UpdateTaskRequestSchema)({
    aid: callerAid,
    task_id: taskId,
    action: oneOf(actions, 'INVALID_ACTION'),
    comment: comment.optional(),
  }),
  (context: Context, input, agent, call) => {
    const { task_id, action, comment = null } = input;
    return changeTask(context, {
      id: task_id,
      call,
      decide: (task, at) => decideAction(task, { ...actorOf(agent), at, action, comment }),
      answer: ({ after: { status } }) => ({ task_id, status, message: `Task is ${status.replace('_', ' ')}` }),
    });
  },
);
