import { AppError } from '@acsp/errors';

interface MemoryLimits {
  /** 100,000 by default. */
  readonly maxKeys?: number;
  /** The size of keys and values together, counted in UTF-16 units. 64 Mi by default. */
  readonly maxLength?: number;
}

/** A key as it is at present: once written again it is another entry. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  /** On the clock of `performance.now()`. */
  readonly expiresAt: number;
}

/** Keys with a time to live in this process. None is evicted before its time: when the memory is full, `set` and `add` throw SERVICE_UNAVAILABLE. */
export interface MemoryKeys {
  readonly size: number;
  has(key: string): boolean;
  get(key: string): string | undefined;
  set(key: string, value: string, ttlSeconds: number): void;
  add(key: string, value: string, ttlSeconds: number): boolean;
  delete(key: string): void;
  clear(): void;
  /** The oldest entries, `count` at most, expired ones among them. */
  oldest(count: number): Entry[];
  /** Removes these entries, unless their keys were written again. */
  remove(entries: readonly Entry[]): void;
}

/** Looking for expired keys is a walk over all of them: a flood must not cause it at each request. */
const walkEveryMs = 1_000;

export function memoryKeys({ maxKeys = 100_000, maxLength = 64 * 2 ** 20 }: MemoryLimits = {}): MemoryKeys {
  const entries = new Map<string, Entry>();
  let [length, walkedAt] = [0, Number.NEGATIVE_INFINITY];

  const remove = (entry: Entry) => {
    if (entries.get(entry.key) !== entry) return;
    entries.delete(entry.key);
    length -= lengthOf(entry);
  };
  const removeExpired = (now: number) => {
    walkedAt = now;
    for (const entry of entries.values()) if (entry.expiresAt <= now) remove(entry);
  };
  const find = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > performance.now()) return entry;
    remove(entry);
    return undefined;
  };
  const set = (key: string, value: string, ttlSeconds: number) => {
    const [now, before] = [performance.now(), find(key)];
    const entry: Entry = { key, value, expiresAt: now + toMs(ttlSeconds) };
    const isFull = () =>
      (before === undefined && entries.size >= maxKeys) ||
      length + lengthOf(entry) - (before === undefined ? 0 : lengthOf(before)) > maxLength;
    if (isFull() && now - walkedAt >= walkEveryMs) removeExpired(now);
    if (isFull()) throw new AppError('SERVICE_UNAVAILABLE', { cause: new Error('The memory for keys is full') });
    if (before !== undefined) remove(before);
    entries.set(key, entry);
    length += lengthOf(entry);
  };
  return {
    get size() {
      return entries.size;
    },
    has: (key) => find(key) !== undefined,
    get: (key) => find(key)?.value,
    set,
    add(key, value, ttlSeconds) {
      if (find(key) !== undefined) return false;
      set(key, value, ttlSeconds);
      return true;
    },
    delete(key) {
      const entry = entries.get(key);
      if (entry !== undefined) remove(entry);
    },
    clear() {
      entries.clear();
      length = 0;
    },
    oldest: (count) => firstOf(entries.values(), count),
    remove: (removed) => removed.forEach(remove),
  };
}

function firstOf<T>(values: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const value of values) {
    if (first.length === count) break;
    first.push(value);
  }
  return first;
}

const lengthOf = ({ key, value }: Entry) => key.length + value.length;

/** A fraction of a second is allowed; no time at all would be an error to Redis. */
export const toMs = (seconds: number): number => Math.max(1, Math.ceil(seconds * 1000));
