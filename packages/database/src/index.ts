/** PostgreSQL for a service: its Prisma client over one pool, migrations at start, transactions, and the outbox of its events. */
export { type LockOptions, withAdvisoryLock } from './advisory-lock.js';
export type { Batch, BatchStatement } from './batch.js';
export { type Coalesce, createCoalesce } from './coalesce.js';
export { isUniqueViolation } from './is-unique-violation.js';
export type { Log } from './log.js';
export { MigrationError } from './migrate.js';
export type { MigrationSet } from './migration-files.js';
export { newId } from './new-id.js';
export {
  type AnyPrismaClient,
  type Database,
  type DatabaseOptions,
  openDatabase,
  outboxMigrations,
  type Transaction,
} from './open-database.js';
export { openPostgres, type Postgres, type PostgresOptions } from './open-postgres.js';
export { claimEvent, emit, type NewEvent, type OutboxRow, outboxRow, type RawExecutor } from './outbox.js';
export type { Query, Statement } from './query.js';
