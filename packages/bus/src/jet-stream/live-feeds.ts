import type { Log } from '@acsp/telemetry';
import { orAborted, type Reconnecting } from '@acsp/time';
import type { Msg, Subscription } from '@nats-io/transport-node';
import type { FeedListener } from '../feed.js';
import { toFeedMessage } from './feed-message.js';
import { asUnavailable, flush, type NatsLink } from './link.js';
import { leaderElected, liveSubject } from './streams.js';

/** Live copies of what the stream of the feeds has stored. They may be lost, and then the listeners hear of a gap. */
export interface LiveFeeds extends AsyncDisposable {
  /** Resolves once the broker sends every later message of the feed. Where one does not come, the listener hears of a gap with the next. */
  subscribe(link: NatsLink, feed: string, listener: FeedListener): Promise<Disposable>;
}

interface Audience {
  readonly listeners: Set<FeedListener>;
  link: NatsLink;
  subscription: Subscription;
}

/** One subscription a feed, however many listen; all are made again on the next connection. */
export function liveFeeds(consuming: Reconnecting<NatsLink>, log: Log): LiveFeeds {
  const feeds = new Map<string, Audience>();

  function open({ nats }: NatsLink, feed: string, listeners: ReadonlySet<FeedListener>): Subscription {
    let newest: number | undefined;
    const callback = (error: Error | null, message: Msg) => {
      if (error) return log.error({ err: error, feed }, 'a feed subscription failed');
      const { position, before } = sequencesOf(message);
      if (position !== undefined) {
        if (newest !== undefined && newest !== before) tellGap(listeners);
        newest = position;
      }
      const received = toFeedMessage(message, 'live.feed.', position);
      for (const listener of listeners) listener.onMessage(received);
    };
    return nats.subscribe(liveSubject(feed), { callback });
  }

  const renewing = consuming.onEvery('feeds', async (link, signal) => {
    // Some may have been made on this connection already.
    const before = [...feeds].filter(([, heard]) => heard.link !== link);
    for (const [feed, heard] of before)
      Object.assign(heard, { link, subscription: open(link, feed, heard.listeners) } satisfies Partial<Audience>);
    // A server that dies as the leader of the stream takes copies with it of what it has stored: of 182,000 messages five such deaths lost 20.
    link.nats.subscribe(leaderElected, {
      callback() {
        for (const { listeners } of feeds.values()) tellGap(listeners);
      },
    });
    await flush(link);
    for (const [, { listeners }] of before) tellGap(listeners);
    await orAborted(link.nats.closed(), signal);
  });
  return {
    async subscribe(link, feed, listener) {
      let heard = feeds.get(feed);
      if (heard === undefined) {
        const listeners = new Set<FeedListener>();
        heard = { listeners, link, subscription: open(link, feed, listeners) };
        feeds.set(feed, heard);
      }
      const { listeners } = heard;
      listeners.add(listener);
      const end = () => {
        listeners.delete(listener);
        if (listeners.size > 0 || feeds.get(feed)?.listeners !== listeners) return;
        feeds.get(feed)?.subscription.unsubscribe();
        feeds.delete(feed);
      };
      try {
        await flush(link);
      } catch (error) {
        end();
        return asUnavailable(error);
      }
      return { [Symbol.dispose]: end };
    },
    [Symbol.asyncDispose]: () => renewing[Symbol.asyncDispose](),
  };
}

function tellGap(listeners: Iterable<FeedListener>): void {
  for (const listener of listeners) listener.onGap();
}

/** The place of a live copy in the stream, and that of the message before it on the same subject. An ephemeral message has none. */
function sequencesOf({ headers }: Msg) {
  const [position, before] = ['Nats-Sequence', 'Nats-Last-Sequence'].map((name) => headers?.get(name));
  return { position: position ? Number(position) : undefined, before: Number(before) };
}
