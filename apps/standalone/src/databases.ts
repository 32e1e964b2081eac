import { join, resolve } from 'node:path';
import { startPostgres } from '@acsp/local';
import pg from 'pg';
import type { Config } from './config.js';

export interface Databases extends AsyncDisposable {
  /** The connection string of a database, made if there is none. */
  open(name: string): Promise<string>;
}

/** The PostgreSQL server of DATABASE_URL, else an embedded one under DATA_DIR. */
export async function openDatabases({ DATABASE_URL, DATABASE_PREFIX, DATA_DIR }: Config): Promise<Databases> {
  if (DATABASE_URL !== undefined) return remoteDatabases(DATABASE_URL, DATABASE_PREFIX);
  const server = await startPostgres({ dataDir: join(resolve(DATA_DIR), 'postgres') });
  return {
    async open(name) {
      await server.ensureDatabase(name);
      return server.url(name);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function remoteDatabases(serverUrl: string, prefix: string): Databases {
  return {
    async open(service) {
      const name = `${prefix}${service}`;
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      try {
        const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
        if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
      } finally {
        await client.end();
      }
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
    async [Symbol.asyncDispose]() {},
  };
}
