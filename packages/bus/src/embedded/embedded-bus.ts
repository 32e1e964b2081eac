import { fileURLToPath } from 'node:url';
import { type Log, openPostgres } from '@acsp/database';
import { toAppError } from '@acsp/errors';
import type { Bus } from '../bus.js';
import { createDisposables } from '../disposables.js';
import { consumeRows } from './consume.js';
import { keepTidy } from './keep-tidy.js';
import { publishRows } from './publish.js';
import { watchRows } from './watch.js';

export interface EmbeddedBusOptions {
  /** The database of the bus, the same for every service. It may have other tables. */
  readonly databaseUrl: string;
  readonly log: Log;
}

const migrations = [{ directory: fileURLToPath(new URL('../../migrations', import.meta.url)), schema: 'bus' }];

/** The bus in tables of PostgreSQL, for one machine. Any number of buses may share a database; those in other processes are seen once a second. */
export function embeddedBus({ databaseUrl, log }: EmbeddedBusOptions): Bus {
  const postgres = openPostgres({ url: databaseUrl, migrations, poolSize: 4, log });
  const { pool, migrated } = postgres;
  const context = { pool, migrated, databaseUrl, log };
  const running = createDisposables();
  running.add(keepTidy(context));
  return {
    async publish(service, events) {
      await publishRows(context, service, events);
    },
    async consume(consumer) {
      return running.add(consumeRows(context, consumer));
    },
    async watch(watcher) {
      return running.add(watchRows(context, watcher));
    },
    async ready() {
      await postgres.ping().catch((error: unknown) => {
        throw toAppError(error);
      });
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
    },
  };
}
