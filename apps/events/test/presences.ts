import type { FeedMessage } from '@acsp/bus';
import type { Agent } from '@acsp/operation';
import type { Answer, Events } from './harness.js';

/** Presence as callers use it, and what its feeds hold. */
export function presencesOf(events: Events) {
  const { call, bus } = events;
  return {
    set: (who: Agent, status: string, fields: object = {}) => call(who, 'POST /presence', { status, ...fields }),
    beat: (who: Agent, fields: object = {}) => call(who, 'POST /presence/heartbeat', fields),
    get: (who: Agent, { aid }: Pick<Agent, 'aid'>) => call(who, `GET /presence?aid=${aid}`),
    list: (who: Agent, agents: readonly Pick<Agent, 'aid'>[]) =>
      call(who, `GET /presence?aids=${agents.map(({ aid }) => aid)}`),
    watch: (who: Agent, agents: readonly Pick<Agent, 'aid'>[], fields: object = {}) =>
      call(who, 'POST /presence/subscribe', { watch_aids: agents.map(({ aid }) => aid), ...fields }),
    sweep: () => call(scheduler, 'POST /presence/sweep', {}),
    /** The statuses that the feed of an agent has announced. */
    async announced(aid: string): Promise<string[]> {
      const messages = await bus.feed.latest([`presence:${aid}`], 1000);
      return messages.map(({ data }) => JSON.parse(data).status);
    },
  };
}

const scheduler = { name: '', via: 'internal', requestId: 'test' } as const;

export const codeOf = ({ status, body }: Answer): string => `${status} ${body.code ?? body.status ?? ''}`.trim();

/** Gives what is heard in the feed of an agent by a subscription in each replica. */
export async function watching<T>(
  replicas: readonly Events[],
  { aid }: Agent,
  run: (heard: FeedMessage[]) => Promise<T>,
): Promise<T> {
  const heard: FeedMessage[] = [];
  const listener = { onMessage: (message: FeedMessage) => void heard.push(message), onGap() {} };
  const subscriptions = await Promise.all(replicas.map(({ bus }) => bus.feed.subscribe(`presence:${aid}`, listener)));
  try {
    return await run(heard);
  } finally {
    for (const subscription of subscriptions) subscription[Symbol.dispose]();
  }
}

export const signals = (heard: readonly FeedMessage[]) => heard.filter(({ event }) => event === 'hb_signal');
