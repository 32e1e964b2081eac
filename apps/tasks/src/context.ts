import { fileURLToPath } from 'node:url';
import { type Bus, createBus } from '@acsp/bus';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { SearchService } from '@acsp/contracts/search/v1/search';
import { type Coalesce, createCoalesce, type Database, openDatabase } from '@acsp/database';
import { createPrincipals, type Principals, type RpcClientOf, rpcClient } from '@acsp/rpc';
import { type Clock, createStack, type Logger, systemClock } from '@acsp/service';
import { LRUCache } from 'lru-cache';
import type { Config } from './config.js';
import { PrismaClient } from './generated/prisma/client.js';
import type { Counts, Page } from './operations/list-tasks.js';

/** Everything that the service's code reaches for. */
export interface Context extends AsyncDisposable {
  readonly config: Config;
  readonly database: Database<PrismaClient>;
  readonly bus: Bus;
  readonly identity: RpcClientOf<typeof IdentityService>;
  /** Absent where no search service is deployed. */
  readonly search: RpcClientOf<typeof SearchService> | undefined;
  readonly principals: Principals;
  /** Pages of lists for all who ask for the same one at the same time. */
  readonly pages: Coalesce<Page>;
  /** How many tasks pass a filter: up to a limit, for half a second or until this process writes; and all of them, for two seconds. */
  readonly counts: Counts;
  readonly totals: Counts;
  /** When this process last saw that a task had been taken, by performance.now(): of its newest 5,000. */
  readonly taken: LRUCache<string, number>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What tests and the standalone put in place of the service's own; they dispose of it themselves. */
export type Overrides = Partial<Pick<Context, 'bus' | 'clock'>>;

export function createContext(config: Config, log: Logger, overrides: Overrides = {}): Context {
  const stack = createStack({ log });
  const principals = createPrincipals(config.PRINCIPAL_SECRET);
  const peer = { principals, name: 'tasks' };
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
    identity: stack.use(rpcClient(IdentityService, { ...peer, address: config.IDENTITY_GRPC })),
    search:
      config.SEARCH_GRPC === undefined
        ? undefined
        : stack.use(rpcClient(SearchService, { ...peer, address: config.SEARCH_GRPC })),
    principals,
    pages: createCoalesce(),
    counts: new LRUCache({ max: 500, ttl: 500 }),
    totals: new LRUCache({ max: 500, ttl: 2_000 }),
    taken: new LRUCache({ max: 5_000 }),
    clock: overrides.clock ?? systemClock,
    log,
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
