import { type BatchStatement, createBatch, createQuery, type Statement } from '@acsp/database';
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
  const batch = createBatch({
    write: createQuery(pool),
    // Without a name a statement is planned each time: a plan made while the table was small would read it whole.
    read: async <Row>({ text, values }: Statement) => (await pool.query(text, [...values])).rows as Row[],
    clockAheadMs: session.clockAheadMs,
    onCommit() {},
    isOpen: () => !pool.ending,
  });
  const entry = (key: string, value: string, ttlSeconds: number): Input => ({
    key: toText(prefix + key),
    value: toText(value),
    ttl_ms: toMs(ttlSeconds),
  });

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
      const row = await attempt(() => batch(getStatement, { key: toText(prefix + key) }));
      return row && fromText(row.value);
    },
    async set(key, value, ttlSeconds) {
      await attempt(() => batch(setStatement, entry(key, value, ttlSeconds)));
    },
    add: (key, value, ttlSeconds) =>
      attempt(async () => (await batch(addStatement, entry(key, value, ttlSeconds))) !== undefined),
    async delete(key) {
      await attempt(() => pool.query('DELETE FROM store.entry WHERE key = $1', [toText(prefix + key)]));
    },
    ready: () => attempt(ping),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

const getStatement: BatchStatement<Pick<Input, 'key'>, Pick<Input, 'value'>> = {
  name: 'store get',
  columns: { key: 'text' },
  key: ({ key }) => key,
  readOnly: true,
  text: 'SELECT key, value FROM input JOIN store.entry USING (key) WHERE expires_at > now()',
};

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
