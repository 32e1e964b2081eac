import { freePort } from '@acsp/local';
import { createStack } from '@acsp/service';
import { type AppProcess, startApp } from '../apps.js';
import { limitScale, principalSecret } from './settings.js';
import type { Environment, Side } from './side.js';

export interface Distributed extends Side {
  /** The contract door of tasks, `host:port`. */
  readonly tasksAddress: string;
  readonly events: AppProcess & {
    /** Its public door, which takes signed principals. */
    readonly url: string;
  };
}

/** Gateway, identity, tasks, messaging and events, each a process, on PostgreSQL, JetStream and Redis. `eventsEnv` is for events alone. */
export async function startDistributed(
  { servers, logDir }: Environment,
  eventsEnv: Readonly<Record<string, string>> = {},
): Promise<Distributed> {
  const { postgres, nats, redis } = servers;
  const stack = createStack();
  const names = ['identity', 'tasks', 'messaging', 'events'] as const;
  const ports = await freePorts(1 + 2 * names.length);
  const gatewayPort = ports[2 * names.length];
  const http = (name: (typeof names)[number]) => ports[2 * names.indexOf(name)];
  const grpc = (name: (typeof names)[number]) => ports[2 * names.indexOf(name) + 1];
  const common = {
    PRINCIPAL_SECRET: principalSecret,
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    IDENTITY_GRPC: `127.0.0.1:${grpc('identity')}`,
    MESSAGING_GRPC: `127.0.0.1:${grpc('messaging')}`,
  };
  const start = async (name: string, env: Record<string, string>) =>
    stack.use(await startApp(name, { ...common, ...env }, logDir));
  const startService = async (name: (typeof names)[number], env: Readonly<Record<string, string>> = {}) =>
    start(name, {
      DATABASE_URL: await postgres.database(`distributed_${name}`),
      HTTP_PORT: `${http(name)}`,
      GRPC_PORT: `${grpc(name)}`,
      ...env,
    });
  try {
    const identity = await startService('identity');
    const tasks = await startService('tasks');
    const messaging = await startService('messaging');
    const events = await startService('events', eventsEnv);
    const gateway = await start('gateway', {
      PORT: `${gatewayPort}`,
      ...Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_URL`, `http://127.0.0.1:${http(name)}`])),
      RATE_LIMIT_SCALE: limitScale,
    });
    return {
      name: 'acsp',
      url: `http://127.0.0.1:${gatewayPort}`,
      tasksAddress: `127.0.0.1:${grpc('tasks')}`,
      events: { ...events, url: `http://127.0.0.1:${http('events')}` },
      servers: [gateway, identity, tasks, messaging, events, postgres, nats, redis],
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await stack[Symbol.asyncDispose]();
    throw error;
  }
}

/** All at once: one after the other could be given the same port twice. */
const freePorts = (count: number) => Promise.all(Array.from({ length: count }, freePort));
