import type { Log } from '@acsp/telemetry';
import { every } from '@acsp/time';
import type pg from 'pg';
import type { Postgres } from './open-postgres.js';

/** The rows of a table that nobody needs after some time. */
export interface ExpiredRows {
  readonly table: string;
  /** The columns of its primary key, separated by commas. */
  readonly key: string;
  /** SQL that is true for them, followed by an ORDER BY where the planner would read the whole table without one. */
  readonly where: string;
}

export interface ExpiryOptions {
  /** In log lines. */
  readonly name: string;
  /** 10 minutes when absent. */
  readonly intervalMs?: number;
  readonly rows: readonly ExpiredRows[];
  readonly log: Log;
}

const batchSize = 1_000;

/** Deletes expired rows periodically, until disposed. */
export function deleteExpiredPeriodically(
  postgres: Pick<Postgres, 'pool' | 'ping'>,
  { name, intervalMs = 600_000, rows, log }: ExpiryOptions,
): AsyncDisposable {
  return every({ name, intervalMs, log }, async (signal) => {
    await postgres.ping();
    await deleteExpired(postgres.pool, rows, signal);
  });
}

/** Batches hold no lock for long, and skip rows that another process is deleting: any number of processes may run this at once. */
export async function deleteExpired(pool: pg.Pool, rows: readonly ExpiredRows[], signal?: AbortSignal): Promise<void> {
  for (const { table, key, where } of rows) {
    const statement = `DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)`;
    for (let deleted = batchSize; deleted === batchSize && !signal?.aborted; ) {
      deleted = (await pool.query(statement)).rowCount ?? 0;
    }
  }
}
