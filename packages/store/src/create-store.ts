import { connectRedis, type Log } from './connect-redis.js';
import { memoryStore } from './memory-store.js';
import { redisStore } from './redis-store.js';
import type { Store } from './store.js';

export interface StoreOptions {
  /** Absent: in memory. Stores and rate limiters with the same URL share one connection. */
  readonly redisUrl?: string;
  /** Of the keys in Redis, such as `gateway:`. */
  readonly prefix: string;
  /**
   * While Redis is away or hangs: `fail` throws SERVICE_UNAVAILABLE; `memory` goes on in this process alone, hands its keys over
   * when Redis is back, and is always ready: not ready would take every replica out of service for what it can do without.
   */
  readonly onOutage: 'memory' | 'fail';
  readonly log: Log;
}

export function createStore({ redisUrl, prefix, onOutage, log }: StoreOptions): Store {
  if (redisUrl === undefined) return memoryStore();
  return redisStore({ redis: connectRedis(redisUrl, log), prefix, onOutage });
}
