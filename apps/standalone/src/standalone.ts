import { randomBytes } from 'node:crypto';
import { createBus } from '@acsp/bus';
import { configSchema as gatewayConfig } from '@acsp/gateway/config';
import { createContext as createGateway } from '@acsp/gateway/context';
import { start as startGateway } from '@acsp/gateway/server';
import { configSchema as identityConfig } from '@acsp/identity/config';
import { createContext as createIdentity } from '@acsp/identity/context';
import { start as startIdentity } from '@acsp/identity/server';
import { createStack, type Runtime } from '@acsp/service';
import { configSchema as tasksConfig } from '@acsp/tasks/config';
import { createContext as createTasks } from '@acsp/tasks/context';
import { start as startTasks } from '@acsp/tasks/server';
import type { Config } from './config.js';
import { openDatabases } from './databases.js';
import { untilReady } from './until-ready.js';

export interface Standalone extends AsyncDisposable {
  /** Where agents call, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** By service, the public door and `host:port` of the contract door. */
  readonly doors: Readonly<Record<'identity' | 'tasks', { readonly url: string; readonly address: string }>>;
  /** Signs principals for the contract doors. */
  readonly principalSecret: string;
}

/** Every app in this process, joined over loopback as they are between machines. Ready when it resolves. */
export async function startStandalone({ config, log, health }: Runtime<Config>): Promise<Standalone> {
  const stack = createStack({ log });
  try {
    const databases = stack.use(await openDatabases(config));
    const bus = stack.use(createBus({ natsUrl: config.NATS_URL, databaseUrl: await databases.open('bus'), log }));
    const principalSecret = randomBytes(32).toString('hex');
    const common = {
      HOST: '127.0.0.1',
      HTTP_PORT: 0,
      GRPC_PORT: 0,
      PRINCIPAL_SECRET: principalSecret,
      REDIS_URL: config.REDIS_URL,
    };
    const publicUrl = config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`;

    const identityEnv = { ...common, DATABASE_URL: await databases.open('identity'), PUBLIC_URL: publicUrl };
    const identityContext = stack.use(
      createIdentity(identityConfig.parse(identityEnv), log.child({ name: 'identity' }), { bus }),
    );
    const identity = stack.use(await startIdentity(identityContext, health));

    const tasksEnv = { ...common, DATABASE_URL: await databases.open('tasks'), IDENTITY_GRPC: identity.address };
    const tasksContext = stack.use(createTasks(tasksConfig.parse(tasksEnv), log.child({ name: 'tasks' }), { bus }));
    const tasks = stack.use(await startTasks(tasksContext, health));

    const gatewayEnv = {
      ...common,
      HOST: config.HOST,
      PORT: config.PORT,
      IDENTITY_GRPC: identity.address,
      IDENTITY_URL: identity.url,
      TASKS_URL: tasks.url,
      RATE_LIMIT_SCALE: config.RATE_LIMIT_SCALE,
      INTERNAL_TOKEN: config.INTERNAL_TOKEN ?? randomBytes(32).toString('hex'),
    };
    await Promise.all([identityContext.database.migrated, tasksContext.database.migrated, untilReady(bus)]);
    const gatewayContext = stack.use(
      createGateway(gatewayConfig.parse(gatewayEnv), log.child({ name: 'gateway' }), { bus }),
    );
    const gateway = stack.use(await startGateway(gatewayContext));
    return {
      url: gateway.url,
      doors: { identity, tasks },
      principalSecret,
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await Promise.resolve(stack[Symbol.asyncDispose]()).catch(() => {});
    throw error;
  }
}
