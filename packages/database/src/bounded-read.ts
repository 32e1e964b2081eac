import { gauge } from '@acsp/telemetry';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { createLane } from './lane.js';
import { onConnection, type Query, type Statement } from './query.js';
import { createStatementNames } from './statement-name.js';

/**
 * Runs a read whose cost depends on what is stored. `kind` names what makes it cost so, such as filters and order: a kind that was seen to be
 * slow waits for the lane of slow reads at once.
 */
export type BoundedRead = <T>(kind: string, read: (query: Query) => Promise<T>) => Promise<T>;

export interface BoundedReadOptions {
  readonly pool: pg.Pool;
  /** The pool's, in metrics. */
  readonly name: string;
  /** Ends the statement that a connection is running. */
  readonly cancel: (processId: number) => Promise<void>;
  readonly query: Query;
}

/** Nearly all reads take a few milliseconds. */
const quickMs = 400;
const slowReads = gauge('acsp_slow_reads', 'Reads that were seen to be slow, by pool and state', ['pool', 'state']);

/**
 * A statement that is not quick is cancelled and begins again in a lane, which two reads hold at a time: whatever is stored and whoever asks
 * for it, slow reads never have all connections, nor every core of PostgreSQL. A read that was slow
 * for once, because the machine was, has not been in the lane and passes those that take long there.
 */
export function createBoundedRead({ pool, name, cancel, query }: BoundedReadOptions): BoundedRead {
  const lane = createLane({
    width: 2,
    maxWaiting: 32,
    maxWaitMs: 4_000,
    detail: 'Too many requests read as much as this one: narrow its filters, or use a cursor in place of an offset',
  });
  for (const state of ['running', 'waiting'] as const)
    slowReads.export({ pool: name, state }, () => (pool.ended ? undefined : lane[state]()));
  /** How long each kind took in the lane, in milliseconds. */
  const slow = new LRUCache<string, number>({ max: 1_000 });
  const quickly = createQuick(pool, cancel);

  async function slowly<T>(kind: string, read: (query: Query) => Promise<T>): Promise<T> {
    const cost = slow.get(kind) ?? 0;
    slow.set(kind, cost);
    return lane(async () => {
      const startedAt = performance.now();
      try {
        return await read(query);
      } finally {
        const tookMs = performance.now() - startedAt;
        if (tookMs < quickMs / 2) slow.delete(kind);
        else slow.set(kind, tookMs);
      }
    }, cost);
  }

  return async (kind, read) => {
    if (slow.has(kind)) return slowly(kind, read);
    try {
      return await read(quickly(() => slow.has(kind)));
    } catch (error) {
      if (!isCancelled(error)) throw error;
      return slowly(kind, read);
    }
  };
}

/** SQLSTATE query_canceled. */
const cancelledCode = '57014';
const isCancelled = (error: unknown) => (error as { code?: unknown }).code === cancelledCode;

interface Connection {
  readonly client: pg.PoolClient;
  /** Keeps it from going back to the pool. */
  readonly close: () => void;
}

/** Statements that are cancelled when they are not quick, and do not begin once their kind is known to be slow. */
function createQuick(pool: pg.Pool, cancel: BoundedReadOptions['cancel']) {
  const nameOf = createStatementNames();
  const run = async ({ client, close }: Connection, { text, values }: Statement) => {
    let cancelled: Promise<boolean> | undefined;
    const timer = setTimeout(() => {
      const { processID } = client as unknown as { readonly processID: number };
      // A statement that cannot be cancelled goes on until its time-out.
      cancelled = cancel(processID).then(
        () => true,
        () => false,
      );
    }, quickMs);
    try {
      return await client.query({ name: nameOf({ sql: text }), text, values: values as unknown[] });
    } finally {
      clearTimeout(timer);
      // The connection is nobody else's before the cancel is over: one that may come late must not find another statement there.
      if ((await cancelled) === false) close();
    }
  };
  return (isSlow: () => boolean): Query =>
    <Row>(statement: Statement) =>
      onConnection(pool, async (client, close) => {
        if (isSlow()) throw slowKind();
        return (await run({ client, close }, statement)).rows as Row[];
      });
}

/** As if it had been cancelled at once. */
const slowKind = () =>
  Object.assign(new pg.DatabaseError('Statements of this kind are slow', 0, 'error'), { code: cancelledCode });
