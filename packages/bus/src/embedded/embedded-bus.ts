import { fileURLToPath } from 'node:url';
import { deleteExpiredPeriodically, type ExpiredRows, openPostgres } from '@acsp/database';
import { toAppError } from '@acsp/errors';
import type { Log } from '@acsp/telemetry';
import type { Bus } from '../bus.js';
import { onAnnouncement } from './announcements.js';
import { expiredFeed, feedRows } from './feed.js';
import { followRows } from './follow.js';
import { publishRows } from './publish.js';
import { readRowsFrom } from './read-from.js';
import { storedMessages } from './stored-messages.js';
import { watchRows } from './watch.js';

export interface EmbeddedBusOptions {
  /** The database of the bus, the same for every service. It may have other tables. */
  readonly databaseUrl: string;
  readonly log: Log;
}

const migrations = [{ directory: fileURLToPath(new URL('../../migrations/embedded', import.meta.url)), schema: 'bus' }];
/** Messages are kept for as long as the streams of a broker keep theirs. */
const expiredMessages: ExpiredRows = {
  table: 'bus.messages',
  key: 'position',
  where: "published_at < now() - interval '7 days' ORDER BY published_at",
};

/** The bus in tables of PostgreSQL, for one machine. Any number of buses may share a database; those in other processes are seen once a second. */
export function embeddedBus({ databaseUrl, log }: EmbeddedBusOptions): Bus {
  const postgres = openPostgres({ url: databaseUrl, name: 'bus', migrations, poolSize: 4, log });
  const messages = storedMessages(postgres.pool);
  // Before any follower listens: what wakes it is kept by then.
  const stopKeeping = onAnnouncement(databaseUrl, messages.keep);
  const context = { ...postgres, messages, databaseUrl, log };
  const rows = [expiredMessages, expiredFeed];
  const expiry = deleteExpiredPeriodically(postgres, { name: 'old messages', rows, log });
  const feed = feedRows(context);
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
    readFrom: (after, take, signal) => readRowsFrom(context, after, { take, signal }),
    feed,
    async ready() {
      await postgres.ping().catch((error: unknown) => {
        throw toAppError(error);
      });
    },
    async [Symbol.asyncDispose]() {
      stopKeeping();
      await Promise.all([expiry, feed, ...watchers].map((work) => work[Symbol.asyncDispose]()));
      await postgres[Symbol.asyncDispose]();
    },
  };
}
