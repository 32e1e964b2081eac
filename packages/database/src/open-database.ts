import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import type { ITXClientDenyList } from '@prisma/client/runtime/client';
import { type Batch, createBatch } from './batch.js';
import type { Log } from './log.js';
import type { MigrationSet } from './migration-files.js';
import { openPostgres, type Postgres } from './open-postgres.js';
import { deleteExpired } from './outbox.js';
import { createPool, keyedPlans } from './pool.js';
import { createQuery, type Query } from './query.js';
import { createStatementNames } from './statement-name.js';
import { retryConflicts } from './transaction.js';

/** What every generated Prisma client has, whatever its models. */
export interface AnyPrismaClient {
  $transaction: (...args: never[]) => Promise<unknown>;
  $disconnect(): Promise<void>;
}

/** A client inside of a transaction. */
export type Transaction<P> = Omit<P, ITXClientDenyList>;

export interface DatabaseOptions<P> {
  /** `postgresql://user:password@host:port/database`. The database belongs to one service. */
  readonly url: string;
  /** The service's `prisma/migrations`. */
  readonly migrationsDir: string;
  /** Makes the service's generated client: `(adapter) => new PrismaClient({ adapter })`. */
  readonly client: (adapter: PrismaPg) => P;
  /** Connections in the pool; 10 when absent. Batches open up to sixteen more. */
  readonly poolSize?: number;
  readonly log: Log;
}

export interface Database<P> extends Postgres {
  /** The service's client, on the same pool. */
  readonly prisma: P;
  /** A statement of a hot path: on the same pool, without the 130 µs that a raw query costs in Prisma. */
  readonly query: Query;
  /** A statement of a hot path that finds its rows by key: together with what else waits for the same statement. */
  readonly batch: Batch;
  /** An interactive transaction, run again when it lost a conflict: it must have no effect but on the database. */
  transaction<T>(run: (tx: Transaction<P>) => Promise<T>): Promise<T>;
}

/** The tables of the outbox, for a process that has them without a Prisma client. */
export const outboxMigrations: MigrationSet = {
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
  schema: 'bus',
};

const housekeepingMs = 600_000;

/** The database of a service: migrated in the background, with the outbox in it. Returns at once, whether PostgreSQL is up or not. */
export function openDatabase<P extends AnyPrismaClient>(options: DatabaseOptions<P>): Database<P> {
  const { log, migrationsDir } = options;
  const postgres = openPostgres({ ...options, migrations: [outboxMigrations, { directory: migrationsDir }] });
  const { pool } = postgres;
  // Two for each of seven statements: those that stand at a locked row must not take what others need.
  const writers = createPool(options.url, 14, log, keyedPlans);
  const readers = createPool(options.url, 2, log, keyedPlans);
  const prisma = options.client(new PrismaPg(pool, { statementNameGenerator: createStatementNames() }));
  const housekeeping = setInterval(() => {
    postgres
      .ping()
      .then(() => deleteExpired(pool))
      .catch((error: unknown) => log.warn({ err: error }, 'Old events could not be deleted'));
  }, housekeepingMs).unref();
  return {
    ...postgres,
    prisma,
    query: createQuery(pool),
    batch: createBatch(createQuery(writers), createQuery(readers)),
    transaction<T>(run: (tx: Transaction<P>) => Promise<T>) {
      const limits = { maxWait: 2_500, timeout: 5_000 };
      return retryConflicts(() => prisma.$transaction(...([run, limits] as never[])) as Promise<T>);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(housekeeping);
      await prisma.$disconnect();
      await Promise.all([writers.end(), readers.end()]);
      await postgres[Symbol.asyncDispose]();
    },
  };
}
