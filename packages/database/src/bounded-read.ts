import { gauge } from '@acsp/telemetry';
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
const maxKinds = 1_000;
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
  const slow = new Map<string, number>();
  const quickly = createQuick(pool, cancel);

  async function slowly<T>(kind: string, read: (query: Query) => Promise<T>): Promise<T> {
    const cost = slow.get(kind) ?? 0;
    remember(slow, kind, cost);
    return lane(async () => {
      const startedAt = performance.now();
      try {
        return await read(query);
      } finally {
        const tookMs = performance.now() - startedAt;
        if (tookMs < quickMs / 2) slow.delete(kind);
        else remember(slow, kind, tookMs);
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

function remember(kinds: Map<string, number>, kind: string, tookMs: number): void {
  kinds.delete(kind);
  kinds.set(kind, tookMs);
  const [oldest] = kinds.keys();
  if (kinds.size > maxKinds && oldest !== undefined) kinds.delete(oldest);
}

/** SQLSTATE query_canceled. */
const cancelledCode = '57014';
const isCancelled = (error: unknown) => (error as { code?: unknown }).code === cancelledCode;

/** Statements that are cancelled when they are not quick, and do not begin once their kind is known to be slow. */
function createQuick(pool: pg.Pool, cancel: BoundedReadOptions['cancel']) {
  const nameOf = createStatementNames();
  const run = async (client: pg.PoolClient, { text, values }: Statement) => {
    let cancelled: Promise<void> | undefined;
    const timer = setTimeout(() => {
      // One that cannot be cancelled goes on until its time-out.
      cancelled = cancel((client as unknown as { readonly processID: number }).processID).catch(() => {});
    }, quickMs);
    try {
      return await client.query({ name: nameOf({ sql: text }), text, values: values as unknown[] });
    } finally {
      clearTimeout(timer);
      // The connection is nobody else's before this is over, so no other statement is cancelled.
      await cancelled;
    }
  };
  return (isSlow: () => boolean): Query =>
    <Row>(statement: Statement) =>
      onConnection(pool, async (client) => {
        if (isSlow()) throw slowKind();
        return (await run(client, statement)).rows as Row[];
      });
}

/** As if it had been cancelled at once. */
const slowKind = () =>
  Object.assign(new pg.DatabaseError('Statements of this kind are slow', 0, 'error'), { code: cancelledCode });
