import { join } from 'node:path';
import { freePort } from '@acsp/local';
import { startApp } from '../apps.js';
import { limitScale } from './settings.js';
import type { Environment, Side } from './side.js';

/** Everything in one process as `npm start` runs it, on the PostgreSQL of this run: the same program and settings as its embedded one. */
export async function startStandalone({ servers, logDir }: Environment): Promise<Side> {
  const { postgres } = servers;
  const port = await freePort();
  const env = {
    PORT: `${port}`,
    DATA_DIR: join(logDir, 'standalone'),
    DATABASE_URL: postgres.serverUrl,
    RATE_LIMIT_SCALE: limitScale,
  };
  const app = await startApp('standalone', env, logDir);
  return {
    name: 'acsp',
    url: `http://127.0.0.1:${port}`,
    servers: [app, postgres],
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
