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
    /**
     * Does what autovacuum does within minutes: without statistics a planner guesses, on either side. Like autovacuum it leaves out tables in which
     * nothing was written: as empty as they are, plans made for them would read them whole, however large they become in the run.
     */
    analyze(): Promise<void>;
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
        async analyze() {
          const names = await query<{ datname: string }>(
            serverUrl,
            'SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate',
          );
          for (const { datname } of names) {
            const tables = await query<{ name: string }>(postgres.url(datname), written);
            if (tables.length > 0)
              await query(postgres.url(datname), `VACUUM ANALYZE ${tables.map(({ name }) => name).join(', ')}`);
          }
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

const written = `SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_user_tables WHERE n_mod_since_analyze > 50`;

async function serverVersion(url: string): Promise<string> {
  const [row] = await query<{ server_version: string }>(url, 'SHOW server_version');
  return row?.server_version ?? '';
}

async function query<Row extends pg.QueryResultRow>(connectionString: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
