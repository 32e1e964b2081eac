import { type MemoryLimits, memoryKeys } from './memory-keys.js';
import type { Store } from './store.js';

/** A store in this process, bounded: when it is full the least recently used keys are dropped. */
export function memoryStore(limits: MemoryLimits = {}): Store {
  const keys = memoryKeys(limits);
  return {
    get: async (key) => keys.get(key),
    set: async (key, value, ttlSeconds) => keys.set(key, value, ttlSeconds),
    add: async (key, value, ttlSeconds) => keys.add(key, value, ttlSeconds),
    take: async (key) => keys.take(key),
    delete: async (key) => keys.delete(key),
    async ready() {},
    async [Symbol.asyncDispose]() {
      keys.clear();
    },
  };
}
