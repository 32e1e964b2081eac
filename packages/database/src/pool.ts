import { gauge, type Log } from '@acsp/telemetry';
import pg from 'pg';
import { applySettings, type SessionSettings } from './session-settings.js';

export interface PoolOptions {
  readonly url: string;
  /** The name in metrics and in PostgreSQL's own views. */
  readonly name: string;
  readonly size: number;
  readonly log: Log;
  readonly settings?: SessionSettings;
}

const connections = gauge('acsp_database_connections', 'Connections of a pool, by state', ['pool', 'state']);

/** A call that passes one of the deadlines, or one of those in session-settings.ts, is answered SERVICE_UNAVAILABLE. */
export const connectionSettings = (url: string, name: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: name,
  keepAlive: true,
  connectionTimeoutMillis: 2_000,
  // The client's own limit, for a server that has become unreachable without closing the connection.
  query_timeout: 8_000,
});

export function createPool({ url, name, size, log, settings }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionSettings(url, name),
    max: size,
    // The pool waits for it. An error here closes the connection, and is that of the query for which it was made.
    onConnect: (client) => applySettings(client, settings),
  });
  pool.on('error', ({ message: reason }) => {
    // A pool has ended before its connections have closed, and the error carries the whole client.
    if (!pool.ending) log.warn({ reason, pool: name }, 'an idle database connection was lost');
  });
  // Without a listener a lost connection would end the process. The next query on it reports the loss.
  pool.on('connect', (client) => client.on('error', () => {}));
  for (const [state, count] of Object.entries(counts))
    connections.export({ pool: name, state }, () => (pool.ended ? undefined : pool[count]));
  return pool;
}

const counts = { total: 'totalCount', idle: 'idleCount', waiting: 'waitingCount' } as const;
