import type { Log } from '@acsp/telemetry';
import { connectPostgres } from './connect-postgres.js';
import { connectRedis } from './connect-redis.js';
import { postgresStore } from './postgres-store.js';
import { redisStore } from './redis-store.js';
import type { Store } from './store.js';

export interface StoreOptions {
  /** Keys are in Redis. Stores and rate limiters with the same URL share one connection. */
  readonly redisUrl?: string | undefined;
  /** Without Redis keys are in the schema `store` of this database. Stores and rate limiters with the same URL share two connections and a session. */
  readonly databaseUrl?: string | undefined;
  /** Begins every key, such as `gateway:`. */
  readonly prefix: string;
  /**
   * While Redis is away or hangs: `fail` rejects with SERVICE_UNAVAILABLE; `memory` goes on in this process alone, hands its keys over
   * when Redis is back, and is always ready: not ready would take every replica out of service for what it can do without.
   * A store in PostgreSQL always fails with it. When the memory is full, `set` and `add` reject with SERVICE_UNAVAILABLE.
   */
  readonly onOutage: 'memory' | 'fail';
  readonly log: Log;
}

/** Short-lived keys in Redis, or else in PostgreSQL. Returns at once, whether the server is up or not; throws where neither is configured. */
export function createStore({ redisUrl, databaseUrl, prefix, onOutage, log }: StoreOptions): Store {
  if (redisUrl !== undefined) return redisStore({ redis: connectRedis(redisUrl, log), prefix, onOutage });
  if (databaseUrl !== undefined) return postgresStore({ postgres: connectPostgres(databaseUrl, log), prefix });
  throw new Error('A store needs a Redis URL or a database URL: in memory its keys would be lost at each restart');
}
