import { memoryKeys } from './memory-keys.js';
import { memorySchedules } from './memory-schedules.js';
import type { Store } from './store.js';

/** A store in this process, for unit tests. When it is full, `set` and `add` reject with SERVICE_UNAVAILABLE. */
export function memoryStore(): Store {
  const [keys, schedules] = [memoryKeys(), memorySchedules()];
  return {
    ...schedules,
    get: async (key) => keys.get(key),
    set: async (key, value, ttlSeconds) => keys.set(key, value, ttlSeconds),
    add: async (key, value, ttlSeconds) => keys.add(key, value, ttlSeconds),
    delete: async (key) => keys.delete(key),
    async ready() {},
    async [Symbol.asyncDispose]() {
      keys.clear();
      schedules.clear();
    },
  };
}
