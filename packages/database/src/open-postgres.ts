import { AppError } from '@acsp/errors';
import type pg from 'pg';
import type { Log } from './log.js';
import { migrate } from './migrate.js';
import type { MigrationSet } from './migration-files.js';
import { createPool } from './pool.js';

export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database` */
  readonly url: string;
  /** Applied in this order. */
  readonly migrations: readonly MigrationSet[];
  /** Connections in the pool; 10 when absent. */
  readonly poolSize?: number;
  readonly log: Log;
}

export interface Postgres extends AsyncDisposable {
  readonly pool: pg.Pool;
  /** Resolves when the tables are there; rejects with a MigrationError when a migration is wrong. */
  readonly migrated: Promise<void>;
  /** For readiness: rejects with SERVICE_UNAVAILABLE while the database is down or not migrated. */
  ping(): Promise<void>;
}

/** A pool on a database that is migrated in the background. Returns at once, whether the database is up or not. */
export function openPostgres({ url, migrations, poolSize = 10, log }: PostgresOptions): Postgres {
  const pool = createPool(url, poolSize, log);
  const closing = new AbortController();
  let state: 'waiting' | 'done' | 'failed' = 'waiting';
  const migrated = migrate({ pool, sets: migrations, log, signal: closing.signal });
  const settled = migrated.then(
    () => {
      state = 'done';
    },
    (error: unknown) => {
      state = 'failed';
      if (!closing.signal.aborted) log.error({ err: error }, 'The database cannot be migrated');
    },
  );
  return {
    pool,
    migrated,
    async ping() {
      if (state !== 'done') throw new AppError('SERVICE_UNAVAILABLE', { detail: `Migrations: ${state}` });
      await pool.query('SELECT 1');
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await settled;
      if (!pool.ending) await pool.end();
    },
  };
}
