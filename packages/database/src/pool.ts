import { gauge, type Log } from '@acsp/telemetry';
import pg from 'pg';

/** Deadlines in milliseconds of everything that waits for PostgreSQL; a call that passes one is answered SERVICE_UNAVAILABLE. */
export const deadlines = {
  connectionTimeoutMillis: 2_000,
  statement_timeout: 5_000,
  idle_in_transaction_session_timeout: 5_000,
  // The client's own limit, for a server that has become unreachable without closing the connection.
  query_timeout: 8_000,
};

/** Times come back as text in the session's zone, so the zone is ours, whatever the database's own is. */
const utc = '-c TimeZone=UTC';

/**
 * For statements that find every row by its key. The plan of a prepared statement is made once; without this it may be one that reads whole tables,
 * made while they were small, and stays until statistics say otherwise.
 */
export const keyedPlans =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan';

export interface PoolOptions {
  readonly url: string;
  /** The name in metrics and in PostgreSQL's own views. */
  readonly name: string;
  readonly size: number;
  readonly log: Log;
  /** Parameters of its sessions, as `-c name=value`. */
  readonly options?: string;
}

const connections = gauge('acsp_database_connections', 'Connections of a pool, by state', ['pool', 'state']);

export function connectionSettings(url: string, name: string, options = ''): pg.ClientConfig {
  const [connectionString, own] = splitOptions(url);
  // Of two that set the same parameter the later one counts.
  const all = [own, utc, options].filter((some) => some !== '').join(' ');
  return { connectionString, application_name: name, keepAlive: true, options: all, ...deadlines };
}

/** A URL without its `options`, and those: node-postgres would take them in place of ours. */
function splitOptions(url: string): [url: string, options: string] {
  const mark = url.indexOf('?');
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark));
  const options = query.get('options');
  if (options === null) return [url, ''];
  query.delete('options');
  return [`${url.slice(0, mark)}?${query}`, options];
}

export function createPool({ url, name, size, log, options }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({ ...connectionSettings(url, name, options), max: size });
  pool.on('error', ({ message: reason }) => {
    // A pool has ended before its connections have closed, and the error carries the whole client.
    if (!pool.ending) log.warn({ reason, pool: name }, 'an idle database connection was lost');
  });
  // Without a listener a lost connection would end the process. The next query on it reports the loss.
  pool.on('connect', (client) => client.on('error', () => {}));
  exportCounts(pool, name);
  return pool;
}

function exportCounts(pool: pg.Pool, name: string): void {
  const counts = { total: () => pool.totalCount, idle: () => pool.idleCount, waiting: () => pool.waitingCount };
  for (const [state, count] of Object.entries(counts)) {
    connections.export({ pool: name, state }, () => (pool.ended ? undefined : count()));
  }
}
