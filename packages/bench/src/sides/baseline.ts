import { fileURLToPath } from 'node:url';
import { createStack } from '@acsp/service';
import { type Child, startChild } from '../child.js';
import type { Environment, Side } from './side.js';

const script = fileURLToPath(new URL('../baseline/main.js', import.meta.url));

/** Gateway and service of the baseline in as many processes as the form beside it has on a request's path. */
export async function startBaseline(form: string, processes: 1 | 2, { servers, logDir }: Environment): Promise<Side> {
  const stack = createStack();
  const start = async (name: string, env: Record<string, string>) => {
    const child: Child = stack.use(startChild({ name: `baseline-${form}-${name}`, script, env, logDir }));
    return { name, pid: child.pid, url: String(await child.receive()) };
  };
  try {
    const DATABASE_URL = await servers.postgres.database(`baseline_${form}`);
    const service = await start('service', processes === 1 ? { DATABASE_URL, GATEWAY: '1' } : { DATABASE_URL });
    const gateway = processes === 1 ? service : await start('gateway', { TARGET: service.url });
    return {
      name: 'baseline',
      url: gateway.url,
      servers: [...new Set([gateway, service]), servers.postgres],
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await stack[Symbol.asyncDispose]();
    throw error;
  }
}
