import { setTimeout as pause } from 'node:timers/promises';
import { toAppError } from '@acsp/errors';
import type pg from 'pg';
import type { Log } from './log.js';
import { type Migration, type MigrationSet, readMigrations } from './migration-files.js';
import { connectApart } from './pool.js';

/** A migration that cannot be applied. Trying again does not help: somebody has to decide. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface MigrateOptions {
  readonly pool: pg.Pool;
  readonly sets: readonly MigrationSet[];
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Applies what is missing, as `prisma migrate deploy` would, and keeps trying for as long as the database cannot be used.
 * Rejects with a MigrationError when a migration is wrong, and when the signal ends the attempts.
 */
export async function migrate({ pool, sets, log, signal }: MigrateOptions): Promise<void> {
  const loaded = await Promise.all(sets.map(readMigrations));
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5_000)) {
    try {
      return await migrateOnce(pool, loaded, log);
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      log.warn({ err: error, delayMs }, 'Migrations have to wait for the database');
    }
    await pause(delayMs * (0.5 + Math.random()), undefined, { signal });
  }
}

type Loaded = Awaited<ReturnType<typeof readMigrations>>;

async function migrateOnce(pool: pg.Pool, sets: readonly Loaded[], log: Log): Promise<void> {
  const client = await connectApart(pool, { statement_timeout: 600_000, query_timeout: 0, lock_timeout: 10_000 });
  try {
    // The key that Prisma's own command takes. Whoever has to wait longer than lock_timeout tries again.
    await client.query('SELECT pg_advisory_lock(72707369)');
    for (const { table, schema, migrations } of sets) {
      if (schema !== undefined) await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await client.query(createTable(table));
      for (const migration of await pending(client, table, migrations)) {
        await apply(client, table, migration);
        log.info({ migration: migration.name }, 'Migration applied');
      }
    }
  } finally {
    await client.end().catch(() => {});
  }
}

/** Prisma's own table, so that its command line works on the same database. */
const createTable = (table: string) => `CREATE TABLE IF NOT EXISTS ${table} (
  id varchar(36) PRIMARY KEY,
  checksum varchar(64) NOT NULL,
  finished_at timestamptz,
  migration_name varchar(255) NOT NULL,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0
)`;

interface AppliedRow {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished: boolean;
  readonly logs: string | null;
}

async function pending(client: pg.Client, table: string, migrations: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<AppliedRow>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished, logs FROM ${table} WHERE rolled_back_at IS NULL`,
  );
  const failed = rows.find((row) => !row.finished);
  if (failed !== undefined) {
    const reason = failed.logs?.replace(/\s+/g, ' ').slice(0, 300) ?? 'no reason recorded';
    throw new MigrationError(
      `Migration ${failed.migration_name} failed earlier (${reason}). Repair the database, then run \`prisma migrate resolve\`.`,
    );
  }
  const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const changed = migrations.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (changed !== undefined) {
    throw new MigrationError(
      `Migration ${changed.name} was changed after it had been applied. Restore it and add another.`,
    );
  }
  return migrations.filter(({ name }) => !checksums.has(name));
}

/**
 * One multi-statement query is one transaction, so script and row commit together or not at all: a process that is killed half way leaves nothing behind.
 */
async function apply(client: pg.Client, table: string, { name, checksum, sql }: Migration): Promise<void> {
  const quoted = client.escapeLiteral(name);
  try {
    await client.query(`INSERT INTO ${table} (id, checksum, migration_name) VALUES (gen_random_uuid(), '${checksum}', ${quoted});
      ${sql}
      ;UPDATE ${table} SET finished_at = clock_timestamp(), applied_steps_count = 1
        WHERE migration_name = ${quoted} AND rolled_back_at IS NULL`);
  } catch (error) {
    if (toAppError(error).code === 'SERVICE_UNAVAILABLE') throw error;
    throw new MigrationError(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
