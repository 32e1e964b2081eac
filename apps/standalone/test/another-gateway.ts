import { embeddedBus } from '@acsp/bus';
import { configSchema } from '@acsp/gateway/config';
import { start } from '@acsp/gateway/server';
import { createLogger, createStack, loadConfig } from '@acsp/service';
import { principalSecret } from '@acsp/testkit';
import type { World } from './harness.js';

/** A second gateway before the services of a world, as another replica would be: it shares the bus and nothing else. */
export async function startAnotherGateway({
  standalone,
  databaseUrl,
}: World): Promise<{ url: string } & AsyncDisposable> {
  const log = createLogger({ name: 'gateway', level: 'silent' });
  const { identity, tasks } = standalone.services;
  const config = loadConfig(configSchema, {
    HOST: '127.0.0.1',
    PORT: '0',
    PRINCIPAL_SECRET: principalSecret,
    IDENTITY_GRPC: identity?.address,
    IDENTITY_URL: identity?.url,
    TASKS_URL: tasks?.url,
    RATE_LIMIT_SCALE: '100000',
    DATABASE_URL: databaseUrl('gateway'),
  });
  const stack = createStack();
  const bus = stack.use(embeddedBus({ databaseUrl: databaseUrl('bus'), log }));
  const gateway = stack.use(await start(config, log, { bus }));
  return { url: gateway.url, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
