import { createCoalesce } from '@acsp/database';
import type { Log } from '@acsp/telemetry';
import type { Reconnecting } from '@acsp/time';
import type { Bounds, Feed } from '../feed.js';
import { toHeaders, toSent } from './feed-message.js';
import { readFeed, readLatest } from './feed-pages.js';
import { asUnavailable, linkMs, type NatsLink } from './link.js';
import { liveFeeds } from './live-feeds.js';
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
  const live = liveFeeds(consuming, log);
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
