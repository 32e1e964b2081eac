import { startRelay } from '@acsp/bus';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { withAdvisoryLock } from '@acsp/database';
import { serveHttp } from '@acsp/http';
import { serveRpc } from '@acsp/rpc';
import { createStack, every, type Health } from '@acsp/service';
import { onAgentDeleted } from './consumers/on-agent-deleted.js';
import type { Context } from './context.js';
import { operations } from './routes.js';
import { expireTasks } from './task/expire-tasks.js';

export interface TasksServer extends AsyncDisposable {
  /** The public door, such as `http://127.0.0.1:4103`. */
  readonly url: string;
  /** The contract door, `host:port`. */
  readonly address: string;
}

const expiryIntervalMs = 30_000;
const healthIntervalMs = 1_000;

/** Starts relay, consumers, jobs and doors. Returns as soon as it answers, even where the database is still away: then with 503. */
export async function start(context: Context, health: Health): Promise<TasksServer> {
  const { database, bus, config, principals, log } = context;
  const stack = createStack({ log });
  // Not the bus: while it is away nothing is refused, events wait in the outbox.
  health.check('database', () => database.ping());

  const relay = stack.use(startRelay({ database, bus, service: 'tasks', payloads: { task: TaskEventSchema }, log }));
  stack.use(
    await bus.consume({
      name: 'tasks-agent-deleted',
      subjects: ['acsp.identity.agent.deleted'],
      handle: (event) => onAgentDeleted(context, event).finally(relay.wake),
    }),
  );
  const expire = async () => {
    await withAdvisoryLock(database.pool, 'tasks-expiry', () => expireTasks(context)).finally(relay.wake);
  };
  stack.use(every(expiryIntervalMs, expire, log));

  const door = {
    service: TasksService,
    operations,
    context,
    afterWrite: relay.wake,
    principals,
    host: config.HOST,
    log,
  };
  const rpc = stack.use(await serveRpc({ ...door, port: config.GRPC_PORT }));
  stack.use(every(healthIntervalMs, async () => rpc.setServing((await health.ready()).ready), log));
  const http = stack.use(await serveHttp({ ...door, port: config.HTTP_PORT }));
  return { url: http.url, address: rpc.address, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
