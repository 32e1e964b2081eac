import type { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent, type Operations } from '@acsp/rpc';
import type { Context } from './context.js';
import { claimTask, claimTaskInput } from './operations/claim-task.js';
import { createTask, createTaskInput } from './operations/create-task.js';
import { delegateTask, delegateTaskInput } from './operations/delegate-task.js';
import { getTask, getTaskInput } from './operations/get-task.js';
import { listTasks, listTasksInput } from './operations/list-tasks.js';
import { postMessage, postMessageInput } from './operations/post-message.js';
import { resolveClaim, resolveClaimInput } from './operations/resolve-claim.js';
import { submitTask, submitTaskInput } from './operations/submit-task.js';
import { updateTask, updateTaskInput } from './operations/update-task.js';

/** Every operation of tasks, for both doors. */
export const operations = {
  createTask: byAgent('POST /api/acsp/tasks', createTaskInput, createTask, { status: 201 }),
  listTasks: byAgent('GET /api/acsp/tasks', listTasksInput, listTasks),
  getTask: byAgent('GET /api/acsp/tasks/{id}', getTaskInput, getTask),
  claimTask: byAgent('POST /api/acsp/tasks/claim', claimTaskInput, claimTask),
  resolveClaim: byAgent('POST /api/acsp/tasks/claims/resolve', resolveClaimInput, resolveClaim),
  updateTask: byAgent('POST /api/acsp/tasks/update', updateTaskInput, updateTask),
  submitTask: byAgent('POST /api/acsp/tasks/submit', submitTaskInput, submitTask),
  delegateTask: byAgent('POST /api/acsp/tasks/delegate', delegateTaskInput, delegateTask, { status: 201 }),
  postMessage: byAgent('POST /api/acsp/tasks/message', postMessageInput, postMessage, { status: 201 }),
} satisfies Operations<typeof TasksService, Context>;
