import type { Feed } from '@acsp/bus';
import { type Item, type Radio, toItem } from './radio.js';

/** Which streams hear which feed: one subscription a feed, and one serialisation a message, however many they are. */
export interface Audiences {
  /** Resolves once every later message of these feeds comes to the stream, in place of those before. */
  tune(radio: Radio, feeds: readonly string[]): Promise<void>;
  leaveAll(radio: Radio): void;
}

interface Hearing {
  readonly hear: (radio: Radio, item: Item) => void;
  readonly missed: (radio: Radio) => void;
}

interface Audience {
  readonly radios: Set<Radio>;
  readonly subscription: Promise<Disposable>;
}

export function createAudiences(feed: Feed, { hear, missed }: Hearing): Audiences {
  const audiences = new Map<string, Audience>();

  function open(name: string): Audience {
    const radios = new Set<Radio>();
    const subscription = feed.subscribe(name, {
      heard(message) {
        const item = toItem(message);
        for (const radio of radios) hear(radio, item);
      },
      missed() {
        for (const radio of radios) missed(radio);
      },
    });
    const audience = { radios, subscription };
    audiences.set(name, audience);
    // The next stream tries anew.
    subscription.catch(() => audiences.get(name) === audience && audiences.delete(name));
    return audience;
  }

  function join(radio: Radio, name: string): Promise<unknown> {
    const audience = audiences.get(name) ?? open(name);
    audience.radios.add(radio);
    return audience.subscription;
  }

  function leave(radio: Radio, name: string): void {
    const audience = audiences.get(name);
    audience?.radios.delete(radio);
    if (audience === undefined || audience.radios.size > 0) return;
    audiences.delete(name);
    audience.subscription.then((subscription) => subscription[Symbol.dispose]()).catch(() => {});
  }

  function leaveAll(radio: Radio): void {
    for (const name of radio.feeds) leave(radio, name);
  }

  return {
    async tune(radio, feeds) {
      const before = radio.feeds;
      radio.feeds = feeds;
      for (const name of before) if (!feeds.includes(name)) leave(radio, name);
      await Promise.all(feeds.filter((name) => !before.includes(name)).map((name) => join(radio, name)));
      // It ended meanwhile.
      if (radio.closed) leaveAll(radio);
    },
    leaveAll,
  };
}
