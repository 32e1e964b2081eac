import { LRUCache } from 'lru-cache';

export interface AgentCacheOptions<T> {
  readonly maxEntries: number;
  /** For how many milliseconds an answer may be used, as of now. */
  readonly freshMs: () => number;
  readonly now: () => number;
  readonly ask: (key: string) => Promise<T>;
}

export interface AgentCache<T> {
  /**
   * Answers from memory or by a look-up; calls for the same id share one for as long as its answer will be fresh. Failures are not kept.
   * `admit` runs the look-up where nothing is known of the id, however old; it may let it wait, and throws to prevent it.
   */
  find(id: string, key: string, admit?: (lookUp: () => Promise<T>) => Promise<T>): Promise<T>;
  /** Invalidates all answers about this agent, those of look-ups in flight included. */
  drop(aid: string): void;
  /** As `drop` for all agents, except that those who wait for an answer now may still use it. */
  clear(): void;
}

interface Kept<T> {
  readonly value: T;
  readonly startedAt: number;
  readonly agent: { current: boolean };
}

interface Lookup<T> {
  answer: Promise<T>;
  startedAt: number;
  readonly dropped: Set<string>;
}

/** Remembers answers that each are about one agent and hold until that agent changes. */
export function createAgentCache<T extends { readonly aid: string }>(options: AgentCacheOptions<T>): AgentCache<T> {
  const { maxEntries, freshMs, now, ask } = options;
  const entries = createEntries<T>(maxEntries);
  const latest = new Map<string, Lookup<T>>();
  /** All look-ups in flight: the latest of each id, and older ones. */
  const open = new Set<Lookup<T>>();
  const isFresh = ({ startedAt }: Pick<Kept<T>, 'startedAt'>) => now() - startedAt < freshMs();

  /** An answer that is fresh, or a look-up whose answer will be. */
  function current(id: string): T | Promise<T> | undefined {
    const entry = entries.get(id);
    if (entry !== undefined && isFresh(entry)) return entry.value;
    const lookup = latest.get(id);
    return lookup !== undefined && isFresh(lookup) ? lookup.answer : undefined;
  }

  async function learn(id: string, key: string, lookup: Lookup<T>): Promise<T> {
    for (;;) {
      lookup.dropped.clear();
      lookup.startedAt = now();
      const { startedAt } = lookup;
      const keep = entries.keeper(id);
      const value = await ask(key);
      if (lookup.dropped.has(value.aid)) continue;
      keep(value, startedAt);
      return value;
    }
  }

  function lookUp(id: string, key: string): Promise<T> {
    const lookup: Lookup<T> = { answer: Promise.resolve() as never, startedAt: now(), dropped: new Set() };
    open.add(lookup);
    latest.set(id, lookup);
    lookup.answer = learn(id, key, lookup).finally(() => {
      open.delete(lookup);
      if (latest.get(id) === lookup) latest.delete(id);
    });
    return lookup.answer;
  }

  return {
    async find(id, key, admit) {
      const found = current(id);
      if (found !== undefined) return found;
      if (admit === undefined || entries.get(id) !== undefined) return lookUp(id, key);
      // It may have been looked up for another caller while this one waited.
      return admit(async () => current(id) ?? lookUp(id, key));
    },
    drop(aid) {
      entries.drop(aid);
      for (const { dropped } of open) dropped.add(aid);
    },
    clear() {
      entries.clear();
      latest.clear();
    },
  };
}

/** The entries of a cache, of which all that are about one agent become useless together. */
function createEntries<T extends { readonly aid: string }>(max: number) {
  const kept = new LRUCache<string, Kept<T>>({ max });
  /** One mark an agent, shared by all its entries; a mark that leaves makes them useless. */
  const agents = new LRUCache<string, Kept<T>['agent']>({
    max,
    dispose: (agent) => {
      agent.current = false;
    },
  });
  let clearings = 0;

  function keep(id: string, value: T, startedAt: number): void {
    if ((kept.get(id)?.startedAt ?? startedAt) > startedAt) return;
    let agent = agents.get(value.aid);
    if (agent === undefined) {
      agent = { current: true };
      agents.set(value.aid, agent);
    }
    kept.set(id, { value, startedAt, agent });
  }

  return {
    get(id: string): Kept<T> | undefined {
      const entry = kept.get(id);
      return entry?.agent.current ? entry : undefined;
    },
    /** Keeps the answer of a look-up that starts now, unless the cache is cleared before it comes. */
    keeper(id: string) {
      const clearing = clearings;
      return (value: T, startedAt: number): void => {
        if (clearing === clearings) keep(id, value, startedAt);
      };
    },
    drop: (aid: string) => void agents.delete(aid),
    clear() {
      clearings += 1;
      agents.clear();
    },
  };
}
