import type { Feed } from '@acsp/bus';
import { type Item, type Radio, toItem } from './radio.js';

/** Which streams hear which feed: one subscription a feed, and one serialisation a message, however many they are. */
export interface Subscriptions {
  /** Resolves once every later message of these feeds comes to the stream, in place of those before. */
  subscribe(radio: Radio, feeds: readonly string[]): Promise<void>;
  leaveAll(radio: Radio): void;
}

interface Handlers {
  readonly onItem: (radio: Radio, item: Item) => void;
  readonly onGap: (radio: Radio) => void;
}

interface Audience {
  readonly radios: Set<Radio>;
  readonly subscription: Promise<Disposable>;
}

export function createSubscriptions(feed: Feed, { onItem, onGap }: Handlers): Subscriptions {
  const subscriptions = new Map<string, Audience>();

  function open(name: string): Audience {
    const radios = new Set<Radio>();
    const subscription = feed.subscribe(name, {
      onMessage(message) {
        const item = toItem(message);
        for (const radio of radios) onItem(radio, item);
      },
      onGap() {
        for (const radio of radios) onGap(radio);
      },
    });
    const audience = { radios, subscription };
    subscriptions.set(name, audience);
    // The next stream tries anew.
    subscription.catch(() => subscriptions.get(name) === audience && subscriptions.delete(name));
    return audience;
  }

  function join(radio: Radio, name: string): Promise<unknown> {
    const audience = subscriptions.get(name) ?? open(name);
    audience.radios.add(radio);
    return audience.subscription;
  }

  function leave(radio: Radio, name: string): void {
    const audience = subscriptions.get(name);
    audience?.radios.delete(radio);
    if (audience === undefined || audience.radios.size > 0) return;
    subscriptions.delete(name);
    audience.subscription.then((subscription) => subscription[Symbol.dispose]()).catch(() => {});
  }

  function leaveAll(radio: Radio): void {
    for (const name of radio.feeds) leave(radio, name);
  }

  return {
    async subscribe(radio, feeds) {
      const before = radio.feeds;
      radio.feeds = feeds;
      for (const name of before) if (!feeds.includes(name)) leave(radio, name);
      try {
        await Promise.all(feeds.filter((name) => !before.includes(name)).map((name) => join(radio, name)));
      } finally {
        // It ended meanwhile.
        if (radio.closed) leaveAll(radio);
      }
    },
    leaveAll,
  };
}
