import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { defineService } from '@acsp/service';
import { onAgentDeleted } from './consumers/on-agent-deleted.js';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';
import { claimTask } from './operations/claim-task.js';
import { createTask } from './operations/create-task.js';
import { delegateTask } from './operations/delegate-task.js';
import { getTask } from './operations/get-task.js';
import { listTasks } from './operations/list-tasks.js';
import { postMessage } from './operations/post-message.js';
import { resolveClaim } from './operations/resolve-claim.js';
import { submitTask } from './operations/submit-task.js';
import { updateTask } from './operations/update-task.js';
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
    createTask,
    listTasks,
    getTask,
    claimTask,
    resolveClaim,
    updateTask,
    submitTask,
    delegateTask,
    postMessage,
  },
  onAgentDeleted,
  background: (context) => ({
    jobs: [{ name: 'expiry', everyMs: 30_000, run: (signal) => expireTasks(context, signal) }],
  }),
});
