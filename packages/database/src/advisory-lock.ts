import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectApart } from './pool.js';

export interface LockOptions {
  /** Keep asking for a lock that somebody else holds, this often. Without it one refusal is enough. */
  readonly retryMs?: number;
  /** Ends the waiting. What runs under the lock looks at it itself. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a job in one process at a time, whatever the number of replicas: under a session lock of PostgreSQL, which ends with the connection.
 * The job gets that connection; if it does its writes there, it cannot write without the lock.
 * Answers false when somebody else holds the lock, or when the signal came first.
 */
export async function withAdvisoryLock(
  pool: pg.Pool,
  key: string,
  job: (client: pg.Client) => Promise<void>,
  options: LockOptions = {},
): Promise<boolean> {
  const client = await connectApart(pool);
  try {
    // A holder whose machine has vanished must not keep the lock for the two hours of the usual keepalive.
    await client.query('SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3');
    while (!options.signal?.aborted) {
      if (await tryLock(client, key)) {
        await job(client);
        return true;
      }
      if (options.retryMs === undefined) return false;
      // Not a blocking pg_advisory_lock: its snapshot would keep vacuum from removing dead rows for as long as it waits.
      await pause(options.retryMs, undefined, { signal: options.signal }).catch(() => {});
    }
    return false;
  } finally {
    // The lock is released by the end of the session.
    await client.end().catch(() => {});
  }
}

async function tryLock(client: pg.Client, key: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held',
    [key],
  );
  return rows[0]?.held === true;
}
