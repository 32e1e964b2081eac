import { join, resolve } from 'node:path';
import { ensureDatabase, startPostgres } from '@acsp/local';
import type { Config } from './config.js';

export interface Databases extends AsyncDisposable {
  /** The connection string of a database, made if there is none. */
  open(name: string): Promise<string>;
}

/** The PostgreSQL server of DATABASE_URL, else an embedded one under DATA_DIR. */
export async function openDatabases({ DATABASE_URL, DATABASE_PREFIX, DATA_DIR }: Config): Promise<Databases> {
  const embedded =
    DATABASE_URL === undefined ? await startPostgres({ dataDir: join(resolve(DATA_DIR), 'postgres') }) : undefined;
  const serverUrl = DATABASE_URL ?? embedded?.url('postgres') ?? '';
  return {
    open: (name) => ensureDatabase(serverUrl, `${DATABASE_PREFIX}${name}`),
    async [Symbol.asyncDispose]() {
      await embedded?.[Symbol.asyncDispose]();
    },
  };
}
