import { join } from 'node:path';
import { startNats, startPostgres, startRedis } from '@acsp/local';
import { createStack } from '@acsp/service';
import pg from 'pg';
import type { Measured } from './cpu.js';

/** The infrastructure that both forms and their baselines stand on. */
export interface Servers extends AsyncDisposable {
  readonly postgres: Measured & {
    /** A connection string; the database is made when there is none. */
    database(name: string): Promise<string>;
    readonly serverUrl: string;
    readonly version: string;
  };
  readonly nats: Measured & { readonly url: string };
  readonly redis: Measured & { readonly url: string };
}

/** PostgreSQL with fsync on, JetStream and Redis, with their data in `directory`. */
export async function startServers(directory: string): Promise<Servers> {
  const stack = createStack();
  try {
    const postgres = stack.use(await startPostgres({ dataDir: join(directory, 'postgres') }));
    const nats = stack.use(await startNats({ storeDir: join(directory, 'nats') }));
    const redis = stack.use(await startRedis());
    const serverUrl = postgres.url('postgres');
    return {
      postgres: {
        name: 'postgres',
        pid: postgres.pid,
        serverUrl,
        version: await serverVersion(serverUrl),
        async database(name) {
          await postgres.ensureDatabase(name);
          return postgres.url(name);
        },
      },
      nats: { name: 'nats', pid: nats.pid, url: nats.url },
      redis: { name: 'redis', pid: redis.pid, url: redis.url },
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await stack[Symbol.asyncDispose]();
    throw error;
  }
}

async function serverVersion(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  return rows[0]?.server_version ?? '';
}
