import { embeddedBus } from '@acsp/bus';
import { configSchema } from '@acsp/gateway/config';
import { createContext } from '@acsp/gateway/context';
import { start } from '@acsp/gateway/server';
import { createLogger, createStack } from '@acsp/service';
import type { World } from './harness.js';

/** A second gateway before the services of a world, as another replica would be: it shares the bus and nothing else. */
export async function startAnotherGateway({
  standalone,
  databaseUrl,
}: World): Promise<{ url: string } & AsyncDisposable> {
  const log = createLogger({ name: 'gateway', level: 'silent' });
  const { identity, tasks } = standalone.doors;
  const config = configSchema.parse({
    HOST: '127.0.0.1',
    PORT: 0,
    PRINCIPAL_SECRET: standalone.principalSecret,
    IDENTITY_GRPC: identity.address,
    IDENTITY_URL: identity.url,
    TASKS_URL: tasks.url,
    RATE_LIMIT_SCALE: 100_000,
  });
  const stack = createStack();
  const bus = stack.use(embeddedBus({ databaseUrl: databaseUrl('bus'), log }));
  const gateway = stack.use(await start(stack.use(createContext(config, log, { bus }))));
  return { url: gateway.url, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
