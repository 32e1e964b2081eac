import { AppError } from '@acsp/errors';
import type { Log } from '@acsp/telemetry';
import { createTurns, pause, type Reconnecting, reconnecting, within } from '@acsp/time';
import pg from 'pg';
import { applySettings } from './session-settings.js';

/**
 * The one connection of a process for what needs a session: advisory locks, LISTEN and readiness. It is outside of the pool, so that load on the
 * pool is neither an outage nor the end of a lock.
 */
export interface Session extends AsyncDisposable {
  /**
   * Runs a job in one process at a time, whatever the number of replicas, under an advisory lock. The job runs again after each end; its signal
   * aborts when the lock is lost with the connection. Writes on `client` fail once the lock is lost, because both end with the
   * connection.
   */
  lead(key: string, job: (client: pg.Client, signal: AbortSignal) => Promise<void>): AsyncDisposable;
  /** Runs a job once, unless somebody is running it; answers whether it ran. Its signal aborts when the lock is lost with the connection. */
  once(key: string, job: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
  /** Hears a channel for as long as the connection lives, on every connection. */
  listen(channel: string, heard: () => void): AsyncDisposable;
  /** Ends the statement that another connection of this user is running, by its process id. */
  cancel(processId: number): Promise<void>;
  /** For readiness: rejects with SERVICE_UNAVAILABLE while PostgreSQL is away, does not answer within 2 s, or takes no writes. */
  ping(): Promise<void>;
  /** The milliseconds by which PostgreSQL's clock is ahead of ours, as of the last ping. */
  clockAheadMs(): number;
}

interface Held {
  readonly client: pg.Client;
  readonly lost: AbortSignal;
  /** Locks are the session's: a second holder in this process would get one too. */
  readonly keys: Set<string>;
}

const connectMs = 2_000;
const answerMs = 2_000;
const retryMs = 500;

export function openSession(settings: pg.ClientConfig, log: Log): Session {
  const connection = reconnecting({ name: 'PostgreSQL', log, open: () => connect(settings) });
  let ahead = 0;
  return {
    lead: (key, job) => connection.onEvery(`leader of ${key}`, (held, signal) => lead(held, key, { job, signal })),
    once: (key, job) => runOnce(connection, key, job),
    listen: (channel, heard) =>
      connection.onEvery(`listener of ${channel}`, ({ client }, signal) => listen(client, channel, { heard, signal })),
    async cancel(processId) {
      const { client } = await connection.current(answerMs);
      await within(answerMs, 'PostgreSQL', client.query('SELECT pg_cancel_backend($1)', [processId]));
    },
    async ping() {
      try {
        ahead = await measureClock((await connection.current(answerMs)).client);
      } catch (cause) {
        throw new AppError('SERVICE_UNAVAILABLE', {
          detail: 'The database does not answer, or takes no writes',
          cause,
        });
      }
    },
    clockAheadMs: () => ahead,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

async function connect(settings: pg.ClientConfig) {
  const client = inTurn(new pg.Client({ ...settings, connectionTimeoutMillis: connectMs }));
  const lost = new AbortController();
  client.on('error', (error) => lost.abort(error));
  client.on('end', () => lost.abort());
  const close = () => client.end().catch(() => {});
  try {
    await client.connect();
    // A holder whose machine has vanished must not keep its locks for the two hours of the usual keepalive.
    await applySettings(client, { tcp_keepalives_idle: '5', tcp_keepalives_interval: '2', tcp_keepalives_count: '3' });
  } catch (error) {
    await close();
    throw error;
  }
  return { value: { client, lost: lost.signal, keys: new Set<string>() } satisfies Held, lost: lost.signal, close };
}

/** Several users share the connection, and node-postgres 9 takes one statement at a time. */
function inTurn(client: pg.Client): pg.Client {
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const turns = createTurns();
  return Object.assign(client, { query: (...args: unknown[]) => turns(() => query(...args)) });
}

const pong = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  current_setting('transaction_read_only') = 'on' AS read_only`;

interface Pong {
  readonly now: number;
  readonly read_only: boolean;
}

/** Answers the milliseconds by which PostgreSQL's clock is ahead. */
async function measureClock(client: pg.Client): Promise<number> {
  const sentAt = Date.now();
  const { rows } = await within(answerMs, 'PostgreSQL', client.query<Pong>(pong)).catch((error) => {
    // A connection that hangs is as good as lost: leaders on it have to end.
    void client.end();
    throw error;
  });
  const { now, read_only } = rows[0] as Pong;
  if (read_only) {
    // The setting that a connection began with outlives that of the database: the next ping asks on a new one.
    void client.end();
    throw new Error('PostgreSQL takes no writes');
  }
  return now - (sentAt + Date.now()) / 2;
}

interface Listening {
  readonly heard: () => void;
  readonly signal: AbortSignal;
}

async function listen(client: pg.Client, channel: string, { heard, signal }: Listening): Promise<void> {
  const onNotification = (message: pg.Notification) => {
    if (message.channel === channel) heard();
  };
  client.on('notification', onNotification);
  try {
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    // Notifications that were sent while there was no connection are lost.
    heard();
    await pause(2 ** 31 - 1, signal);
  } finally {
    client.off('notification', onNotification);
  }
}

interface Leading {
  readonly job: (client: pg.Client, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

async function lead(held: Held, key: string, { job, signal }: Leading): Promise<void> {
  while (!signal.aborted) {
    const release = await tryLock(held, key);
    if (release !== undefined) return runLocked(() => job(held.client, signal), release);
    // A blocking pg_advisory_lock would hold a snapshot while it waits, and keep vacuum from removing dead rows.
    await pause(retryMs, signal);
  }
}

async function runOnce(connection: Reconnecting<Held>, key: string, job: (signal: AbortSignal) => Promise<void>) {
  const held = await connection.current(answerMs);
  const release = await tryLock(held, key);
  if (release === undefined) return false;
  await runLocked(() => job(held.lost), release);
  return true;
}

async function runLocked(job: () => Promise<void>, release: () => Promise<void>): Promise<void> {
  try {
    await job();
  } finally {
    await release();
  }
}

/** Answers how to give the lock back, or undefined where somebody else has it. */
async function tryLock({ client, lost, keys }: Held, key: string): Promise<(() => Promise<void>) | undefined> {
  if (keys.has(key)) return undefined;
  keys.add(key);
  if (await ask(client, 'pg_try_advisory_lock', key)) {
    return async () => {
      keys.delete(key);
      if (!lost.aborted) await ask(client, 'pg_advisory_unlock', key).catch(() => {});
    };
  }
  keys.delete(key);
  return undefined;
}

async function ask(client: pg.Client, lockFunction: string, key: string): Promise<boolean> {
  try {
    const text = `SELECT ${lockFunction}(hashtextextended($1, 0)) AS yes`;
    const { rows } = await client.query<{ yes: boolean }>(text, [key]);
    return rows[0]?.yes === true;
  } catch (error) {
    // The server may have taken the lock, or kept it. A lock that nobody here knows of ends with its connection only.
    void client.end();
    throw error;
  }
}
