import { AppError } from '@acsp/errors';
import type { Log } from '@acsp/telemetry';
import type pg from 'pg';
import { migrate } from './migrate.js';
import type { MigrationSet } from './migration-files.js';
import { connectionSettings, createPool } from './pool.js';
import { openSession, type Session } from './session.js';

export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database` */
  readonly url: string;
  /** The name in metrics, log lines and PostgreSQL's own views. */
  readonly name: string;
  /** The sets are applied in this order. */
  readonly migrations: readonly MigrationSet[];
  /** False waits for somebody else to apply them: a job of the deployment. */
  readonly migrates?: boolean;
  /** Connections in the pool; 10 when absent. */
  readonly poolSize?: number;
  readonly log: Log;
}

export interface Postgres extends AsyncDisposable {
  readonly pool: pg.Pool;
  readonly session: Session;
  /** Resolves when the tables are there; rejects with a MigrationError when a migration is wrong. */
  readonly migrated: Promise<void>;
  readonly isMigrated: () => boolean;
  /** For readiness: rejects with SERVICE_UNAVAILABLE while the database is down, read-only or not migrated. */
  ping(): Promise<void>;
}

/** A pool and a session on a database that is migrated in the background. Returns at once, whether the database is up or not. */
export function openPostgres({
  url,
  name,
  migrations,
  migrates = true,
  poolSize = 10,
  log,
}: PostgresOptions): Postgres {
  const settings = connectionSettings(url, name);
  const pool = createPool({ url, name, size: poolSize, log });
  const session = openSession(settings, log);
  const closing = new AbortController();
  let state: 'waiting' | 'done' | 'failed' = 'waiting';
  const migrated = migrate({ settings, sets: migrations, applies: migrates, log, signal: closing.signal });
  const settled = migrated.then(
    () => {
      state = 'done';
    },
    (error: unknown) => {
      state = 'failed';
      if (!closing.signal.aborted) log.error({ err: error }, 'the database cannot be used');
    },
  );
  return {
    pool,
    session,
    migrated,
    isMigrated: () => state === 'done',
    async ping() {
      if (state !== 'done') throw new AppError('SERVICE_UNAVAILABLE', { detail: `Migrations: ${state}` });
      await session.ping();
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await settled;
      await session[Symbol.asyncDispose]();
      if (!pool.ending) await pool.end();
    },
  };
}
