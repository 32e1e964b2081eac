import { fileURLToPath } from 'node:url';
import { deleteExpiredPeriodically, type ExpiredRows, openPostgres, type Postgres } from '@acsp/database';
import type { Log } from '@acsp/telemetry';
import { within } from '@acsp/time';
import { shareByUrl } from './share-by-url.js';

export interface PostgresConnection extends Postgres {
  /** Resolves when the tables are there. Rejects while they are not, once the first two seconds have passed. */
  opened(): Promise<void>;
}

const migrations = [{ directory: fileURLToPath(new URL('../migrations', import.meta.url)), schema: 'store' }];
const openWithinMs = 2_000;

export const expiredKeys: readonly ExpiredRows[] = [
  { table: 'store.entry', key: 'key', where: 'expires_at <= now()' },
  { table: 'store.counter', key: 'key', where: 'resets_at <= now()' },
];

/** This process's connections to the schema `store` of a database, shared by all who name the same URL. */
export const connectPostgres = shareByUrl(open);

function open(url: string, log: Log): PostgresConnection {
  const postgres = openPostgres({ url, name: 'store', migrations, poolSize: 2, log });
  const opening = postgres.migrated.then(async () => {
    // A batch tells PostgreSQL the latest time at which it may begin, for which it has to know PostgreSQL's clock.
    await postgres.session.ping();
  });
  const openedInTime = within(openWithinMs, 'Opening the store', opening);
  openedInTime.catch(() => {});
  const expiry = deleteExpiredPeriodically(postgres, {
    name: 'expired keys',
    intervalMs: 60_000,
    rows: expiredKeys,
    log,
  });
  return {
    ...postgres,
    opened: async () => {
      if (!postgres.isMigrated()) await openedInTime;
    },
    async [Symbol.asyncDispose]() {
      await expiry[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
    },
  };
}
