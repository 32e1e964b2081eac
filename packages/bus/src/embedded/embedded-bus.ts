import { fileURLToPath } from 'node:url';
import { openPostgres } from '@acsp/database';
import { toAppError } from '@acsp/errors';
import type { Log } from '@acsp/telemetry';
import { every } from '@acsp/time';
import type pg from 'pg';
import type { Bus } from '../bus.js';
import { followRows } from './follow.js';
import { publishRows } from './publish.js';
import { watchRows } from './watch.js';

export interface EmbeddedBusOptions {
  /** The database of the bus, the same for every service. It may have other tables. */
  readonly databaseUrl: string;
  readonly log: Log;
}

const migrations = [{ directory: fileURLToPath(new URL('../../migrations/embedded', import.meta.url)), schema: 'bus' }];
const housekeepingMs = 600_000;

/** The bus in tables of PostgreSQL, for one machine. Any number of buses may share a database; those in other processes are seen once a second. */
export function embeddedBus({ databaseUrl, log }: EmbeddedBusOptions): Bus {
  const postgres = openPostgres({ url: databaseUrl, name: 'bus', migrations, poolSize: 4, log });
  const context = { ...postgres, databaseUrl, log };
  const tidying = every({ name: 'old messages', intervalMs: housekeepingMs, log }, async () => {
    await postgres.ping();
    await deleteExpired(postgres.pool);
  });
  const watchers = new Set<AsyncDisposable>();
  return {
    async publish(service, events) {
      if (events.length > 0) await publishRows(context, service, events);
    },
    follow: (subscription, take, signal) => followRows(context, subscription, { take, signal }),
    watch(watcher) {
      const watching = watchRows(context, watcher);
      watchers.add(watching);
      return watching;
    },
    async ready() {
      await postgres.ping().catch((error: unknown) => {
        throw toAppError(error);
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([tidying, ...watchers].map((work) => work[Symbol.asyncDispose]()));
      await postgres[Symbol.asyncDispose]();
    },
  };
}

/** The retention is that of a broker's streams. Each batch is small, so that it holds no lock for long. */
const expired = `DELETE FROM bus.messages WHERE position IN (SELECT position FROM bus.messages
  WHERE published_at < now() - interval '7 days' ORDER BY published_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`;

async function deleteExpired(pool: pg.Pool): Promise<void> {
  for (let count = 1_000; count === 1_000; ) count = (await pool.query(expired)).rowCount ?? 0;
}
