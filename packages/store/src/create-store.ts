import { connectRedis, type Log } from './connect-redis.js';
import { memoryStore } from './memory-store.js';
import { redisStore } from './redis-store.js';
import type { Store } from './store.js';

export interface StoreOptions {
  /** Absent: in memory. */
  readonly redisUrl?: string | undefined;
  /** Of the keys in Redis, such as `gateway:`. */
  readonly prefix: string;
  /** While Redis is away: `memory` goes on in this process alone, `fail` throws SERVICE_UNAVAILABLE. */
  readonly onOutage: 'memory' | 'fail';
  readonly log: Log;
}

export function createStore({ redisUrl, prefix, onOutage, log }: StoreOptions): Store {
  if (redisUrl === undefined) return memoryStore();
  const shared = redisStore(connectRedis(redisUrl, log), prefix);
  return onOutage === 'fail' ? shared : withFallback(shared, memoryStore());
}

/** Keys that were written during an outage are forgotten by other replicas and after it: that is what may be lost. */
function withFallback(shared: Store, local: Store): Store {
  return {
    get: (key) => shared.get(key).catch(() => local.get(key)),
    set: (key, value, ttlSeconds) => shared.set(key, value, ttlSeconds).catch(() => local.set(key, value, ttlSeconds)),
    add: (key, value, ttlSeconds) => shared.add(key, value, ttlSeconds).catch(() => local.add(key, value, ttlSeconds)),
    take: (key) => shared.take(key).catch(() => local.take(key)),
    delete: (key) => shared.delete(key).catch(() => local.delete(key)),
    // Not ready would take every replica out of service for what it can do without.
    async ready() {},
    [Symbol.asyncDispose]: () => shared[Symbol.asyncDispose](),
  };
}
