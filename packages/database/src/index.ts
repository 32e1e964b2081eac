/** PostgreSQL for a service: its Prisma client over one pool, migrations at start, transactions, batches, and answers under an Idempotency-Key. */
export { type Batch, type BatchStatement, createBatch } from './batch.js';
export { type Coalesce, createCoalesce } from './coalesce.js';
export { deleteExpired, deleteExpiredPeriodically, type ExpiredRows } from './delete-expired.js';
export {
  type AnswerRow,
  answerColumns,
  answerRow,
  type KeptAnswers,
  keepAnswers,
  type RawExecutor,
} from './kept-answers.js';
export { createLane, type Lane } from './lane.js';
export type { MigrationSet } from './migration-files.js';
export { newId } from './new-id.js';
export {
  type AnyPrismaClient,
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Transaction,
} from './open-database.js';
export { openPostgres, type Postgres } from './open-postgres.js';
export { createQuery, type Query, type Statement } from './query.js';
export { patience, untilWritten } from './until-written.js';
