import { LRUCache } from 'lru-cache';

export interface AgentCacheOptions<T> {
  readonly maxEntries: number;
  /** For how many milliseconds an answer may be used, as of now. */
  readonly freshMs: () => number;
  readonly now: () => number;
  readonly ask: (key: string) => Promise<T>;
}

export interface AgentCache<T> {
  /** From memory, or by asking; those who want the same at the same time share one question. Failures are not kept. */
  find(id: string, key: string): Promise<T>;
  /** What was learned about this agent is wrong from now on, answers still on their way included. */
  drop(aid: string): void;
  /** As `drop` for all agents, except that answers on their way may still be used once. */
  clear(): void;
}

interface Kept<T> {
  readonly value: T;
  readonly askedAt: number;
  readonly agent: { current: boolean };
}

interface Question<T> {
  readonly answer: Promise<T>;
  readonly dropped: Set<string>;
}

/** Remembers answers that each are about one agent and hold until that agent changes. */
export function createAgentCache<T extends { readonly aid: string }>(options: AgentCacheOptions<T>): AgentCache<T> {
  const { maxEntries: max, freshMs, now, ask } = options;
  const kept = new LRUCache<string, Kept<T>>({ max });
  /** One mark an agent, shared by all its entries; a mark that leaves makes them useless. */
  const agents = new LRUCache<string, Kept<T>['agent']>({
    max,
    dispose: (agent) => {
      agent.current = false;
    },
  });
  const questions = new Map<string, Question<T>>();
  let clearings = 0;

  const keep = (id: string, value: T, askedAt: number) => {
    let agent = agents.get(value.aid);
    if (agent === undefined) {
      agent = { current: true };
      agents.set(value.aid, agent);
    }
    kept.set(id, { value, askedAt, agent });
  };

  const learn = async (id: string, key: string, dropped: Set<string>): Promise<T> => {
    for (;;) {
      dropped.clear();
      const [askedAt, clearing] = [now(), clearings];
      const value = await ask(key);
      if (dropped.has(value.aid)) continue;
      if (clearing === clearings) keep(id, value, askedAt);
      return value;
    }
  };

  return {
    find(id, key) {
      const entry = kept.get(id);
      if (entry?.agent.current && now() - entry.askedAt < freshMs()) return Promise.resolve(entry.value);
      const asked = questions.get(id);
      if (asked !== undefined) return asked.answer;
      const dropped = new Set<string>();
      const answer = learn(id, key, dropped).finally(() => questions.delete(id));
      questions.set(id, { answer, dropped });
      return answer;
    },
    drop(aid) {
      agents.delete(aid);
      for (const { dropped } of questions.values()) dropped.add(aid);
    },
    clear() {
      clearings += 1;
      agents.clear();
    },
  };
}
