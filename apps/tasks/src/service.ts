import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { byAgent } from '@acsp/operation';
import { defineService } from '@acsp/service';
import { onAgentDeleted, sweepDepartures } from './consumers/on-agent-deleted.js';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';
import { claimTask, claimTaskInput } from './operations/claim-task.js';
import { createTask, createTaskInput } from './operations/create-task.js';
import { delegateTask, delegateTaskInput } from './operations/delegate-task.js';
import { getTask, getTaskInput } from './operations/get-task.js';
import { listTasks, listTasksInput } from './operations/list-tasks.js';
import { postMessage, postMessageInput } from './operations/post-message.js';
import { resolveClaim, resolveClaimInput } from './operations/resolve-claim.js';
import { submitTask, submitTaskInput } from './operations/submit-task.js';
import { updateTask, updateTaskInput } from './operations/update-task.js';
import { expireTasks } from './task/expire-tasks.js';

export const service = defineService({
  name: 'tasks',
  contract: TasksService,
  events: events.payloads,
  config: variables,
  migrations: new URL('../prisma/migrations', import.meta.url),
  client: PrismaClient,
  context: createContext,
  operations: {
    createTask: byAgent(createTaskInput, createTask),
    listTasks: byAgent(listTasksInput, listTasks),
    getTask: byAgent(getTaskInput, getTask),
    claimTask: byAgent(claimTaskInput, claimTask),
    resolveClaim: byAgent(resolveClaimInput, resolveClaim),
    updateTask: byAgent(updateTaskInput, updateTask),
    submitTask: byAgent(submitTaskInput, submitTask),
    delegateTask: byAgent(delegateTaskInput, delegateTask),
    postMessage: byAgent(postMessageInput, postMessage),
  },
  background: (context) => ({
    consumers: [
      {
        name: 'tasks-agent-deleted',
        subjects: ['acsp.identity.agent.deleted'],
        start: 'now',
        order: 'parallel',
        handle: (event) => onAgentDeleted(context, event),
      },
    ],
    jobs: [
      { name: 'expiry', everyMs: 30_000, run: (signal) => expireTasks(context, signal) },
      { name: 'departures', everyMs: 5_000, run: (signal) => sweepDepartures(context, signal) },
    ],
  }),
});
