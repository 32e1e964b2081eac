/** PostgreSQL for a service: its Prisma client over one pool, migrations at start, transactions, batches, and answers under an Idempotency-Key. */
export { type Batch, type BatchOptions, type BatchStatement, createBatch } from './batch.js';
export { type Coalesce, createCoalesce } from './coalesce.js';
export {
  type AnswerRow,
  answerColumns,
  answerRow,
  type KeptAnswers,
  keepAnswers,
  type RawExecutor,
  RepeatedError,
} from './kept-answers.js';
export { MigrationError } from './migrate.js';
export type { MigrationSet } from './migration-files.js';
export { newId } from './new-id.js';
export {
  type AnyPrismaClient,
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Transaction,
} from './open-database.js';
export { openPostgres, type Postgres, type PostgresOptions } from './open-postgres.js';
export { createQuery, type Query, type Statement } from './query.js';
export type { Session } from './session.js';
