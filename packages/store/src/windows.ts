import { LRUCache } from 'lru-cache';
import { type Bucket, placeOf } from './bucket.js';

/** A caller's window: how many calls it has counted, and when it ends on the clock of `performance.now()`. */
export interface Window {
  readonly count: number;
  readonly endsAt: number;
}

/** Fixed windows in this process, at most 100,000: beyond that the least recently used are forgotten. */
export interface Windows {
  /** Counts one call; the first one opens a window. */
  count(bucket: Bucket, key: string): Window;
  /** The present window, if there is one. */
  find(place: string): Window | undefined;
  /** Continues the window of a process that has ended. What this process has counted before counts in that window. */
  restore(place: string, window: Window): void;
  /** Up to `max` windows that have counted a call since they were last answered here. */
  changed(max: number): [place: string, window: Window][];
  /** The next `changed` answers these windows again, because they could not be written. */
  keepChanged(places: readonly string[]): void;
}

export const maxWindows = 100_000;

export function createWindows(): Windows {
  const changed = new Set<string>();
  const windows = new LRUCache<string, Window>({
    max: maxWindows,
    dispose: (_, place, reason) => reason === 'evict' && changed.delete(place),
  });
  const find = (place: string) => {
    const window = windows.get(place);
    return window !== undefined && window.endsAt > performance.now() ? window : undefined;
  };
  return {
    find,
    count(bucket, key) {
      const place = placeOf(bucket, key);
      const before = find(place) ?? { count: 0, endsAt: performance.now() + bucket.windowSeconds * 1000 };
      const window = { ...before, count: before.count + 1 };
      windows.set(place, window);
      changed.add(place);
      return window;
    },
    restore(place, window) {
      const own = find(place);
      windows.set(place, { ...window, count: window.count + (own?.count ?? 0) });
    },
    changed(max) {
      const found: [string, Window][] = [];
      for (const place of changed) {
        if (found.length === max) break;
        changed.delete(place);
        const window = find(place);
        if (window !== undefined) found.push([place, window]);
      }
      return found;
    },
    keepChanged(places) {
      for (const place of places) if (windows.has(place)) changed.add(place);
    },
  };
}
