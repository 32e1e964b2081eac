import { join, resolve } from 'node:path';
import { ensureDatabase } from '@acsp/local';
import type { Logger } from '@acsp/service';
import type { Config } from './config.js';
import { keepPostgres } from './keep-postgres.js';

export interface Databases extends AsyncDisposable {
  /** The connection string of a database, made if there is none. */
  open(name: string): Promise<string>;
  /** Resolves with the reason when the embedded server is gone for good. */
  readonly failed?: Promise<Error>;
}

/** The PostgreSQL server of DATABASE_URL, else an embedded one under DATA_DIR. */
export async function openDatabases(config: Config, log: Logger): Promise<Databases> {
  const { DATABASE_URL, DATABASE_PREFIX, DATA_DIR } = config;
  const dataDir = join(resolve(DATA_DIR), 'postgres');
  const embedded = DATABASE_URL === undefined ? await keepPostgres({ dataDir }, log) : undefined;
  const serverUrl = DATABASE_URL ?? embedded?.url('postgres') ?? '';
  return {
    failed: embedded?.failed,
    open: (name) => ensureDatabase(serverUrl, `${DATABASE_PREFIX}${name}`),
    async [Symbol.asyncDispose]() {
      await embedded?.[Symbol.asyncDispose]();
    },
  };
}
