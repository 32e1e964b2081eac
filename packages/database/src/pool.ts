import pg from 'pg';
import type { Log } from './log.js';

/** Whatever waits for PostgreSQL has a deadline; what runs into one is answered SERVICE_UNAVAILABLE. */
const deadlines = {
  connectionTimeoutMillis: 2_000,
  statement_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  // The client's own limit, for a server that has become unreachable without closing the connection.
  query_timeout: 8_000,
};

/**
 * For statements that find every row by its key. The plan of a prepared statement is made once; without this it may be one that reads whole tables,
 * made while they were small, and stays until statistics say otherwise.
 */
export const keyedPlans = {
  options: '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan',
};

export function createPool(url: string, size: number, log: Log, settings: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: size, keepAlive: true, ...deadlines, ...settings });
  pool.on('error', (error) => log.warn({ err: error }, 'An idle database connection was lost'));
  pool.on('connect', ignoreLoss);
  return pool;
}

/** A connection of its own, with the pool's settings, for session locks, LISTEN and migrations. */
export async function connectApart(pool: pg.Pool, settings: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...pool.options, ...settings });
  ignoreLoss(client);
  await client.connect();
  return client;
}

/** Without a listener a lost connection would end the process. The next query on it reports the loss. */
function ignoreLoss(client: pg.ClientBase): void {
  client.on('error', () => {});
}
