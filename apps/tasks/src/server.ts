import { startRelay } from '@acsp/bus';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { withAdvisoryLock } from '@acsp/database';
import { type Doors, serveDoors } from '@acsp/http';
import { createStack, every, type Health } from '@acsp/service';
import { onAgentDeleted } from './consumers/on-agent-deleted.js';
import type { Context } from './context.js';
import { operations } from './routes.js';
import { expireTasks } from './task/expire-tasks.js';

const expiryIntervalMs = 30_000;

/** Starts relay, consumers, jobs and doors. Returns as soon as it answers, even where the database is still away: then with 503. */
export async function start(context: Context, health: Health): Promise<Doors> {
  const { database, bus, config, principals, log } = context;
  const stack = createStack({ log });
  // Not the bus: while it is away nothing is refused, events wait in the outbox.
  health.check('database', () => database.ping());

  const relay = stack.use(startRelay({ database, bus, service: 'tasks', payloads: { task: TaskEventSchema }, log }));
  const written = () => {
    context.counts.clear();
    relay.wake();
  };
  stack.use(
    await bus.consume({
      name: 'tasks-agent-deleted',
      subjects: ['acsp.identity.agent.deleted'],
      handle: (event) => onAgentDeleted(context, event).finally(written),
    }),
  );
  const expire = async () => {
    await withAdvisoryLock(database.pool, 'tasks-expiry', () => expireTasks(context)).finally(written);
  };
  stack.use(every(expiryIntervalMs, expire, log));

  const doors = stack.use(
    await serveDoors({
      service: TasksService,
      operations,
      context,
      afterWrite: written,
      principals,
      host: config.HOST,
      httpPort: config.HTTP_PORT,
      grpcPort: config.GRPC_PORT,
      health,
      log,
    }),
  );
  return { ...doors, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
