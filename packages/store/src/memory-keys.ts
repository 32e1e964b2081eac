import { LRUCache } from 'lru-cache';

export interface MemoryLimits {
  /** 100,000 by default. */
  readonly maxKeys?: number;
  /** Of keys and values together, counted in UTF-16 units. 64 Mi by default. */
  readonly maxLength?: number;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
  readonly ttlMs: number;
}

/** Keys with a time to live in this process. When it is full the least recently used are dropped. */
export interface MemoryKeys {
  readonly size: number;
  has(key: string): boolean;
  get(key: string): string | undefined;
  set(key: string, value: string, ttlSeconds: number): void;
  add(key: string, value: string, ttlSeconds: number): boolean;
  take(key: string): string | undefined;
  delete(key: string): void;
  clear(): void;
  /** Removes up to `count` entries and hands them over. */
  drain(count: number): Entry[];
}

export function memoryKeys({ maxKeys = 100_000, maxLength = 64 * 2 ** 20 }: MemoryLimits = {}): MemoryKeys {
  const values = new LRUCache<string, string>({
    max: maxKeys,
    maxSize: maxLength,
    sizeCalculation: (value, key) => key.length + value.length + 1,
    ttl: 1,
  });
  const set = (key: string, value: string, ttlSeconds: number) => {
    values.set(key, value, { ttl: toMs(ttlSeconds) });
  };
  return {
    get size() {
      return values.size;
    },
    has: (key) => values.has(key),
    get: (key) => values.get(key),
    set,
    add(key, value, ttlSeconds) {
      if (values.has(key)) return false;
      set(key, value, ttlSeconds);
      return true;
    },
    take(key) {
      const value = values.get(key);
      values.delete(key);
      return value;
    },
    delete(key) {
      values.delete(key);
    },
    clear: () => values.clear(),
    drain: (count) => drain(values, count),
  };
}

function drain(values: LRUCache<string, string>, count: number): Entry[] {
  const entries: Entry[] = [];
  for (const [key, value] of values.entries()) {
    if (entries.length === count) break;
    entries.push({ key, value, ttlMs: Math.max(1, Math.ceil(values.getRemainingTTL(key))) });
  }
  for (const { key } of entries) values.delete(key);
  return entries;
}

/** A fraction of a second is allowed; no time at all would mean "for ever" to the cache and an error to Redis. */
export const toMs = (seconds: number): number => Math.max(1, Math.ceil(seconds * 1000));
