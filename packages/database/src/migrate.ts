import { toAppError } from '@acsp/errors';
import type { Log } from '@acsp/telemetry';
import { pause } from '@acsp/time';
import pg from 'pg';
import { type LoadedSet, type Migration, type MigrationSet, readMigrations } from './migration-files.js';
import { applySettings } from './session-settings.js';

/** The database cannot be used as it is. Trying again does not help: somebody has to decide. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface MigrateOptions {
  readonly settings: pg.ClientConfig;
  readonly sets: readonly MigrationSet[];
  /** False waits until somebody else has applied them. */
  readonly applies: boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Applies what is missing, as `prisma migrate deploy` would, and keeps trying for as long as the database cannot be reached.
 * Rejects with a MigrationError when a migration is wrong, and when the signal ends the attempts.
 */
export async function migrate({ settings, sets, applies, log, signal }: MigrateOptions): Promise<void> {
  const loaded = await Promise.all(sets.map(readMigrations));
  // One line for each reason, not for each attempt.
  let reported: string | undefined;
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5_000)) {
    let reason: unknown;
    try {
      if (await attempt(settings, async (client) => migrateOnce(client, loaded, { applies, log }))) return;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      reason = error;
    }
    if (String(reason) !== reported) {
      reported = String(reason);
      if (reason === undefined) log.info({}, 'migrations have to wait for another process');
      else log.warn({ err: reason }, 'migrations have to wait for the database');
    }
    await pause(delayMs * (0.5 + Math.random()), signal);
    signal.throwIfAborted();
  }
}

async function attempt<T>(settings: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(settings, async (client) => {
    await refuseTransactionPooler(client, settings);
    await applySettings(client, { statement_timeout: '600000', lock_timeout: '10000' });
    return work(client);
  });
}

async function withClient<T>(settings: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...settings, query_timeout: 0 });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Poolers in transaction mode give one connection of PostgreSQL to several clients, which would break session locks, LISTEN, settings and prepared
 * statements one by one. Two clients never have the same one at any other.
 */
async function refuseTransactionPooler(client: pg.Client, settings: pg.ClientConfig): Promise<void> {
  const { connectionString = '' } = settings;
  if (direct.has(connectionString)) return;
  const own = await backendOf(client);
  if ((await withClient(settings, backendOf)) !== own) return void direct.add(connectionString);
  throw new MigrationError(
    'DATABASE_URL leads to a pooler in transaction mode: connect to PostgreSQL itself, or to a pooler in session mode.',
  );
}

/** The URLs that lead to no such pooler: an attempt that begins again, behind another process, makes no second connection. */
const direct = new Set<string>();

const backendOf = async (client: pg.Client) =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;

interface Applying {
  readonly applies: boolean;
  readonly log: Log;
}

/** Answers false where another process has to finish first. */
async function migrateOnce(
  client: pg.Client,
  sets: readonly LoadedSet[],
  { applies, log }: Applying,
): Promise<boolean> {
  await checkEncoding(client);
  // The key is that of Prisma's own command. The lock is tried, because the snapshot of a statement that waits would block CREATE INDEX CONCURRENTLY.
  const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock(72707369) AS held');
  if (!rows[0]?.held) return false;
  for (const { table, schema, migrations } of sets) {
    if (applies && schema !== undefined) await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    if (applies) await client.query(createTable(table));
    const missing = await pending(client, table, migrations);
    if (missing.length > 0 && !applies) return false;
    for (const migration of missing) {
      await apply(client, table, migration);
      log.info({ migration: migration.name }, 'migration applied');
    }
  }
  return true;
}

async function checkEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8') {
    throw new MigrationError(
      `The database is encoded in ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0.`,
    );
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
  const repeatable = new Set(migrations.filter(isRepeatable).map(({ name }) => name));
  const failed = rows.find((row) => !row.finished && !repeatable.has(row.migration_name));
  if (failed !== undefined) {
    const reason = failed.logs?.replace(/\s+/g, ' ').slice(0, 300) ?? 'no reason recorded';
    throw new MigrationError(
      `Migration ${failed.migration_name} failed earlier (${reason}). Repair the database, then run \`prisma migrate resolve\`.`,
    );
  }
  const checksums = new Map(rows.filter((row) => row.finished).map((row) => [row.migration_name, row.checksum]));
  const changed = migrations.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (changed !== undefined) {
    throw new MigrationError(
      `Migration ${changed.name} was changed after it had been applied. Restore it and add another.`,
    );
  }
  return migrations.filter(({ name }) => !checksums.has(name));
}

/** CREATE INDEX CONCURRENTLY refuses to run in a transaction. Such a script runs again when it broke off, so each statement must be repeatable. */
const isRepeatable = ({ sql }: Migration) => sql.startsWith('-- no-transaction\n');

async function apply(client: pg.Client, table: string, migration: Migration): Promise<void> {
  try {
    await (isRepeatable(migration) ? applyInSteps(client, table, migration) : applyAtOnce(client, table, migration));
  } catch (error) {
    if (toAppError(error).code === 'SERVICE_UNAVAILABLE') throw error;
    throw new MigrationError(`Migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}

const begun = (client: pg.Client, table: string, { name, checksum }: Migration) =>
  `INSERT INTO ${table} (id, checksum, migration_name) VALUES (gen_random_uuid(), '${checksum}', ${client.escapeLiteral(name)})`;
const finished = (client: pg.Client, table: string, { name }: Migration) =>
  `UPDATE ${table} SET finished_at = clock_timestamp(), applied_steps_count = 1
    WHERE migration_name = ${client.escapeLiteral(name)} AND rolled_back_at IS NULL`;

/** One multi-statement query is one transaction: script and row commit together or not at all, and a process that is killed leaves nothing behind. */
async function applyAtOnce(client: pg.Client, table: string, migration: Migration): Promise<void> {
  await client.query(`${begun(client, table, migration)};\n${migration.sql}\n;${finished(client, table, migration)}`);
}

async function applyInSteps(client: pg.Client, table: string, migration: Migration): Promise<void> {
  // The row of an attempt that broke off, perhaps with an earlier text of the script.
  await client.query(`DELETE FROM ${table} WHERE migration_name = $1 AND finished_at IS NULL`, [migration.name]);
  await client.query(begun(client, table, migration));
  for (const statement of migration.sql.split(/;\s*\n/)) if (/\S/.test(statement)) await client.query(statement);
  await client.query(finished(client, table, migration));
}
