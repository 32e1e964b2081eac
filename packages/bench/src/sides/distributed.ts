import { freePort } from '@acsp/local';
import { createStack } from '@acsp/service';
import { startApp } from '../apps.js';
import { limitScale, principalSecret } from './settings.js';
import type { Environment, Side } from './side.js';

export interface Distributed extends Side {
  /** The contract door of tasks, `host:port`. */
  readonly tasksAddress: string;
}

/** Gateway, identity, tasks and messaging, each a process, on PostgreSQL, JetStream and Redis. */
export async function startDistributed({ servers, logDir }: Environment): Promise<Distributed> {
  const { postgres, nats, redis } = servers;
  const stack = createStack();
  const [port, identityHttp, identityGrpc, tasksHttp, tasksGrpc, messagingHttp, messagingGrpc] = await freePorts(7);
  const common = {
    PRINCIPAL_SECRET: principalSecret,
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    IDENTITY_GRPC: `127.0.0.1:${identityGrpc}`,
  };
  const start = async (name: string, env: Record<string, string>) =>
    stack.use(await startApp(name, { ...common, ...env }, logDir));
  try {
    const identity = await start('identity', {
      DATABASE_URL: await postgres.database('distributed_identity'),
      HTTP_PORT: `${identityHttp}`,
      GRPC_PORT: `${identityGrpc}`,
    });
    const tasks = await start('tasks', {
      DATABASE_URL: await postgres.database('distributed_tasks'),
      HTTP_PORT: `${tasksHttp}`,
      GRPC_PORT: `${tasksGrpc}`,
    });
    const messaging = await start('messaging', {
      DATABASE_URL: await postgres.database('distributed_messaging'),
      HTTP_PORT: `${messagingHttp}`,
      GRPC_PORT: `${messagingGrpc}`,
    });
    const gateway = await start('gateway', {
      PORT: `${port}`,
      IDENTITY_URL: `http://127.0.0.1:${identityHttp}`,
      MESSAGING_URL: `http://127.0.0.1:${messagingHttp}`,
      TASKS_URL: `http://127.0.0.1:${tasksHttp}`,
      RATE_LIMIT_SCALE: limitScale,
    });
    return {
      name: 'acsp',
      url: `http://127.0.0.1:${port}`,
      tasksAddress: `127.0.0.1:${tasksGrpc}`,
      servers: [gateway, identity, tasks, messaging, postgres, nats, redis],
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await stack[Symbol.asyncDispose]();
    throw error;
  }
}

/** All at once: one after the other could be given the same port twice. */
const freePorts = (count: number) => Promise.all(Array.from({ length: count }, freePort));
