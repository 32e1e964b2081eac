import { LRUCache } from 'lru-cache';
import type { Store } from './store.js';

/** A store in this process: at most `maxKeys`, the least recently used ones are dropped. */
export function memoryStore(maxKeys = 100_000): Store {
  const values = new LRUCache<string, string>({ max: maxKeys, ttl: 1, ttlAutopurge: false });
  return {
    get: async (key) => values.get(key),
    async set(key, value, ttlSeconds) {
      values.set(key, value, { ttl: ttlSeconds * 1000 });
    },
    async add(key, value, ttlSeconds) {
      if (values.has(key)) return false;
      values.set(key, value, { ttl: ttlSeconds * 1000 });
      return true;
    },
    async take(key) {
      const value = values.get(key);
      values.delete(key);
      return value;
    },
    async delete(key) {
      values.delete(key);
    },
    async ready() {},
    async [Symbol.asyncDispose]() {
      values.clear();
    },
  };
}
