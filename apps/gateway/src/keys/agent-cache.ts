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
   * From memory, or by asking; calls for the same id share a question for as long as its answer will be fresh. Failures are not kept.
   * `guard` runs first where nothing is known of the id, however old, and throws to prevent the question.
   */
  find(id: string, key: string, guard?: () => void): Promise<T>;
  /** Invalidates what was learned about this agent, answers still on their way included. */
  drop(aid: string): void;
  /** As `drop` for all agents, except that those who wait for an answer now may still use it. */
  clear(): void;
}

interface Kept<T> {
  readonly value: T;
  readonly askedAt: number;
  readonly agent: { current: boolean };
}

interface Question<T> {
  answer: Promise<T>;
  askedAt: number;
  readonly dropped: Set<string>;
}

/** Remembers answers that each are about one agent and hold until that agent changes. */
export function createAgentCache<T extends { readonly aid: string }>(options: AgentCacheOptions<T>): AgentCache<T> {
  const { maxEntries, freshMs, now, ask } = options;
  const entries = createEntries<T>(maxEntries);
  const latest = new Map<string, Question<T>>();
  /** The latest of each id, and older ones that are still answered. */
  const open = new Set<Question<T>>();
  const isFresh = ({ askedAt }: Pick<Kept<T>, 'askedAt'>) => now() - askedAt < freshMs();

  async function learn(id: string, key: string, question: Question<T>): Promise<T> {
    for (;;) {
      question.dropped.clear();
      question.askedAt = now();
      const { askedAt } = question;
      const keep = entries.keeper(id);
      const value = await ask(key);
      if (question.dropped.has(value.aid)) continue;
      keep(value, askedAt);
      return value;
    }
  }

  function question(id: string, key: string): Promise<T> {
    const asked: Question<T> = { answer: Promise.resolve() as never, askedAt: now(), dropped: new Set() };
    open.add(asked);
    latest.set(id, asked);
    asked.answer = learn(id, key, asked).finally(() => {
      open.delete(asked);
      if (latest.get(id) === asked) latest.delete(id);
    });
    return asked.answer;
  }

  return {
    async find(id, key, guard) {
      const entry = entries.get(id);
      if (entry !== undefined && isFresh(entry)) return entry.value;
      const asked = latest.get(id);
      if (asked !== undefined && isFresh(asked)) return asked.answer;
      if (entry === undefined) guard?.();
      return question(id, key);
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

  function keep(id: string, value: T, askedAt: number): void {
    if ((kept.get(id)?.askedAt ?? askedAt) > askedAt) return;
    let agent = agents.get(value.aid);
    if (agent === undefined) {
      agent = { current: true };
      agents.set(value.aid, agent);
    }
    kept.set(id, { value, askedAt, agent });
  }

  return {
    get(id: string): Kept<T> | undefined {
      const entry = kept.get(id);
      return entry?.agent.current ? entry : undefined;
    },
    /** Keeps a value that was asked for now, unless all is cleared before it comes. */
    keeper(id: string) {
      const clearing = clearings;
      return (value: T, askedAt: number): void => {
        if (clearing === clearings) keep(id, value, askedAt);
      };
    },
    drop: (aid: string) => void agents.delete(aid),
    clear() {
      clearings += 1;
      agents.clear();
    },
  };
}
