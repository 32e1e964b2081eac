import { fileURLToPath } from 'node:url';
import { type Bus, createBus } from '@acsp/bus';
import { type Database, openDatabase } from '@acsp/database';
import { createPrincipals, type Principals } from '@acsp/rpc';
import { type Clock, createStack, type Logger, systemClock } from '@acsp/service';
import { createStore, type Store } from '@acsp/store';
import { LRUCache } from 'lru-cache';
import type { Config } from './config.js';
import { PrismaClient } from './generated/prisma/client.js';

/** Everything that the service's code reaches for. */
export interface Context extends AsyncDisposable {
  readonly config: Config;
  readonly database: Database<PrismaClient>;
  readonly bus: Bus;
  /** Connect tokens. */
  readonly store: Store;
  readonly principals: Principals;
  /** The number of active agents, for a moment. */
  readonly counts: LRUCache<'active', Promise<number>>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What tests and the standalone put in place of the service's own; they dispose of it themselves. */
export type Overrides = Partial<Pick<Context, 'bus' | 'clock'>>;

export function createContext(config: Config, log: Logger, overrides: Overrides = {}): Context {
  const stack = createStack({ log });
  const database = stack.use(
    openDatabase({
      url: config.DATABASE_URL,
      migrationsDir: fileURLToPath(new URL('../prisma/migrations', import.meta.url)),
      client: (adapter) => new PrismaClient({ adapter }),
      poolSize: config.DATABASE_POOL,
      log,
    }),
  );
  return {
    config,
    database,
    bus: overrides.bus ?? stack.use(createBus({ natsUrl: config.NATS_URL, databaseUrl: config.DATABASE_URL, log })),
    // A token that another replica cannot find is worse than none: while Redis is down connect answers 503.
    store: stack.use(createStore({ redisUrl: config.REDIS_URL, prefix: 'identity:', log, onOutage: 'fail' })),
    principals: createPrincipals(config.PRINCIPAL_SECRET),
    counts: new LRUCache({ max: 1, ttl: 3_000 }),
    clock: overrides.clock ?? systemClock,
    log,
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
