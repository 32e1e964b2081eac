import { createCoalesce } from '@acsp/database';
import type { Log } from '@acsp/telemetry';
import { orAborted, type Reconnecting } from '@acsp/time';
import type { Msg, Subscription } from '@nats-io/transport-node';
import type { Bounds, Feed, FeedListener } from '../feed.js';
import { toFeedMessage, toHeaders, toSent } from './feed-message.js';
import { readFeed, readLatest } from './feed-pages.js';
import { asUnavailable, flush, linkMs, type NatsLink } from './link.js';
import { sendAll } from './publish.js';
import { feedStream, liveSubject } from './streams.js';

interface Links {
  /** For reading and subscriptions. */
  readonly consuming: Reconnecting<NatsLink>;
  readonly publishing: Reconnecting<NatsLink>;
  readonly log: Log;
}

/** The feeds as subjects of a stream; subscriptions are to what the stream repeats when it has stored it. */
export function feedOnStream({ consuming, publishing, log }: Links): Feed & AsyncDisposable {
  const link = () => consuming.current(linkMs).catch(asUnavailable);
  const live = createLive(consuming, log);
  const share = createCoalesce<Bounds>();
  return {
    async append(messages) {
      if (messages.length === 0) return;
      await sendAll(await publishing.current(linkMs).catch(asUnavailable), messages.map(toSent));
    },
    async publishEphemeral(message) {
      const { nats } = await link();
      nats.publish(liveSubject(message.feed), message.data, { headers: toHeaders(message) });
    },
    bounds: () =>
      share('', async () => {
        const { manager } = await link();
        const { state } = await manager.streams.info(feedStream).catch(asUnavailable);
        return { first: state.first_seq, last: state.last_seq };
      }),
    read: async (feeds, range) => readFeed(await link(), feeds, range).catch(asUnavailable),
    latest: async (feeds, limit) => readLatest(await link(), feeds, limit).catch(asUnavailable),
    subscribe: async (feed, listener) => live.subscribe(await link(), feed, listener),
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  };
}

interface Audience {
  readonly listeners: Set<FeedListener>;
  link: NatsLink;
  subscription: Subscription;
}

/** One subscription a feed, however many listen; all are made again on the next connection. */
function createLive(consuming: Reconnecting<NatsLink>, log: Log) {
  const feeds = new Map<string, Audience>();

  function open({ nats }: NatsLink, feed: string, listeners: ReadonlySet<FeedListener>): Subscription {
    const callback = (error: Error | null, message: Msg) => {
      if (error) return log.error({ err: error, feed }, 'a feed subscription failed');
      const sequence = message.headers?.get('Nats-Sequence');
      const received = toFeedMessage(message, 'live.feed.', sequence ? Number(sequence) : undefined);
      for (const listener of listeners) listener.onMessage(received);
    };
    return nats.subscribe(liveSubject(feed), { callback });
  }

  const renewing = consuming.onEvery('feeds', async (link, signal) => {
    // Some may have been made on this connection already.
    const before = [...feeds].filter(([, heard]) => heard.link !== link);
    for (const [feed, heard] of before)
      Object.assign(heard, { link, subscription: open(link, feed, heard.listeners) } satisfies Partial<Audience>);
    await flush(link);
    for (const [, { listeners }] of before) for (const listener of listeners) listener.onGap();
    await orAborted(link.nats.closed(), signal);
  });
  return {
    async subscribe(link: NatsLink, feed: string, listener: FeedListener): Promise<Disposable> {
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
