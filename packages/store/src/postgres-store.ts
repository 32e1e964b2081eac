import { type BatchStatement, createBatch, createQuery } from '@acsp/database';
import type { PostgresConnection } from './connect-postgres.js';
import { toMs } from './memory-keys.js';
import { postgresSchedules } from './postgres-schedules.js';
import { fromText, toText } from './postgres-text.js';
import type { Shared } from './share-by-url.js';
import type { Store } from './store.js';
import { unavailable } from './unavailable.js';

interface PostgresStoreOptions {
  readonly postgres: Shared<PostgresConnection>;
  readonly prefix: string;
}

/**
 * A store in PostgreSQL. A write is on disk before it is confirmed, so neither the end of this process nor one of PostgreSQL loses it.
 * A command that fails, for whatever reason, is SERVICE_UNAVAILABLE; a write may have been done all the same.
 */
export function postgresStore({ postgres, prefix }: PostgresStoreOptions): Store {
  const { pool, session, opened, ping } = postgres.resource;
  const query = createQuery(pool);
  const batch = createBatch({ write: query, read: query, clockAheadMs: session.clockAheadMs, onCommit() {} });
  const entry = (key: string, value: string, ttlSeconds: number): Input => ({
    key: toText(prefix + key),
    value: toText(value),
    ttl_ms: toMs(ttlSeconds),
  });
  // The statement has no name, so it is planned each time: a plan made while the table was small would read it whole.
  const run = async (text: string, key: string) => (await pool.query<Row>(text, [toText(prefix + key)])).rows[0];

  async function attempt<T>(command: () => Promise<T>): Promise<T> {
    try {
      await opened();
      return await command();
    } catch (problem) {
      throw unavailable(problem);
    }
  }

  return {
    ...postgresSchedules({ pool, batch, attempt, prefix }),
    async get(key) {
      const row = await attempt(() => run(getStatement, key));
      return row?.live ? fromText(row.value) : undefined;
    },
    async set(key, value, ttlSeconds) {
      await attempt(() => batch(setStatement, entry(key, value, ttlSeconds)));
    },
    add: (key, value, ttlSeconds) =>
      attempt(async () => (await batch(addStatement, entry(key, value, ttlSeconds))) !== undefined),
    async delete(key) {
      await attempt(() => run('DELETE FROM store.entry WHERE key = $1', key));
    },
    ready: () => attempt(ping),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

interface Row {
  readonly value: string;
  readonly live: boolean;
}

const getStatement = 'SELECT value, expires_at > now() AS live FROM store.entry WHERE key = $1';

/** An entry to write; key and value as PostgreSQL takes them. */
interface Input {
  readonly key: string;
  readonly value: string;
  readonly ttl_ms: number;
}

const common = {
  columns: { key: 'text', value: 'text', ttl_ms: 'bigint' },
  key: ({ key }: Input) => key,
};

const upsert = `INSERT INTO store.entry (key, value, expires_at)
  SELECT key, value, now() + ttl_ms * interval '1 millisecond' FROM input
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`;

const setStatement: BatchStatement<Input, unknown> = {
  ...common,
  name: 'store set',
  text: `${upsert} RETURNING key`,
};

/** The second of two processes waits for the first one's commit, and then finds an entry that has not expired: exactly one gets a row. */
const addStatement: BatchStatement<Input, unknown> = {
  ...common,
  name: 'store add',
  text: `${upsert} WHERE entry.expires_at <= now() RETURNING key`,
};
