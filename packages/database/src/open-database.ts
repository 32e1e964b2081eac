import { AppError } from '@acsp/errors';
import type { Call } from '@acsp/operation';
import { PrismaPg } from '@prisma/adapter-pg';
import type { ITXClientDenyList } from '@prisma/client/runtime/client';
import { type Batch, createBatch } from './batch.js';
import { type BoundedRead, createBoundedRead } from './bounded-read.js';
import { deleteExpiredPeriodically } from './delete-expired.js';
import {
  answerMigrations,
  expiredAnswers,
  type KeptAnswers,
  keepAnswer,
  keptAnswers,
  type RawExecutor,
} from './kept-answers.js';
import { openPostgres, type Postgres, type PostgresOptions } from './open-postgres.js';
import { createPool } from './pool.js';
import { createQuery, type Query } from './query.js';
import { keyedPlans } from './session-settings.js';
import { createStatementNames } from './statement-name.js';
import { retryConflicts } from './transaction.js';

/** The part that every generated Prisma client has, whatever its models. */
export interface AnyPrismaClient {
  $transaction: (...args: never[]) => Promise<unknown>;
  $disconnect(): Promise<void>;
}

/** A client inside of a transaction. */
export type Transaction<P> = Omit<P, ITXClientDenyList>;

export interface DatabaseOptions<P> extends PostgresOptions {
  /** The service's generated `PrismaClient`. */
  readonly client: new (options: {
    readonly adapter: PrismaPg;
  }) => P;
}

export interface Database<P> extends Postgres {
  /** The service's client, on the same pool. */
  readonly prisma: P;
  /** A statement of a hot path: on the same pool, without the 130 µs that a raw query costs in Prisma. */
  readonly query: Query;
  /** Statements that read more or less by what is stored: lists, pages. Those that are slow do not take the pool. */
  readonly read: BoundedRead;
  /** A statement of a hot path that finds its rows by key: together with what else waits for the same statement. */
  readonly batch: Batch;
  /** Answers under an Idempotency-Key. */
  readonly answers: KeptAnswers;
  /**
   * An interactive transaction, run again when it lost a conflict: it must have no effect but on the database. `call` is the call that it serves,
   * undefined in jobs and consumers: what `run` returns is then the operation's answer, kept by the same commit under an Idempotency-Key, and
   * nothing commits once the call's deadline has passed.
   */
  transaction<T>(call: Call | undefined, run: (tx: Transaction<P>) => Promise<T>): Promise<T>;
  /** Calls the listener after each commit that may have written. */
  onCommit(listener: () => void): void;
}

/** Waiting for a connection, and the whole of a transaction; in milliseconds. */
const limits = { maxWait: 2_500, timeout: 5_000 };

/** The database of a service, migrated in the background. Returns at once, whether PostgreSQL is up or not. */
export function openDatabase<P extends AnyPrismaClient>(options: DatabaseOptions<P>): Database<P> {
  const { url, name, log } = options;
  const postgres = openPostgres({ ...options, migrations: [answerMigrations, ...options.migrations] });
  const { pool, session } = postgres;
  const writers = createPool({ url, name: `${name} batches`, size: 3, log, settings: keyedPlans });
  const readers = createPool({ url, name: `${name} reading batches`, size: 1, log, settings: keyedPlans });
  const adapter = new PrismaPg(pool, { statementNameGenerator: createStatementNames() });
  const prisma = new options.client({ adapter });
  const query = createQuery(pool);
  const listeners: (() => void)[] = [];
  const committed = () => {
    for (const listener of listeners) listener();
  };
  // Batches go by PostgreSQL's clock, which is known once it has been asked.
  void postgres.migrated.then(() => session.ping()).catch(() => {});
  const expiry = deleteExpiredPeriodically(postgres, { name: 'old answers', rows: [expiredAnswers], log });
  return {
    ...postgres,
    prisma,
    query,
    read: createBoundedRead({ pool, name, query, cancel: session.cancel }),
    batch: createBatch({
      write: createQuery(writers),
      read: createQuery(readers),
      clockAheadMs: session.clockAheadMs,
      onCommit: committed,
      isOpen: () => !pool.ending,
    }),
    answers: keptAnswers(pool),
    async transaction(call, run) {
      const inTime = async (tx: Transaction<P>) => {
        const answer = await run(tx);
        if (call?.once !== undefined) await keepAnswer(tx as unknown as RawExecutor, call.once, answer);
        if (call !== undefined && Date.now() >= call.deadline) throw new AppError('SERVICE_UNAVAILABLE');
        return answer;
      };
      const answer = await retryConflicts(() => prisma.$transaction(...([inTime, limits] as never[])));
      committed();
      return answer as Awaited<ReturnType<typeof run>>;
    },
    onCommit: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      await expiry[Symbol.asyncDispose]();
      await prisma.$disconnect();
      await Promise.all([writers.end(), readers.end()]);
      await postgres[Symbol.asyncDispose]();
    },
  };
}
