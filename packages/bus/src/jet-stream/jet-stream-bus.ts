import { once } from 'node:events';
import type { Log } from '@acsp/telemetry';
import { reconnecting } from '@acsp/time';
import type { Bus, Delivery } from '../bus.js';
import { feedOnStream } from './feed.js';
import { followStream } from './follow.js';
import { asUnavailable, linkMs, openLink } from './link.js';
import { publishTo } from './publish.js';
import { readStreamFrom } from './read-from.js';
import { watchOn } from './watch.js';

export interface JetStreamBusOptions {
  /** `nats://user:password@host:4222`; the servers of a cluster separated by commas. */
  readonly url: string;
  readonly log: Log;
  /** How long an event of a process that has died waits for another one; 10 s when absent. */
  readonly ackWaitMs?: number;
}

/** The bus on NATS JetStream, server 2.10 or later. */
export function jetStreamBus({ url, log, ackWaitMs = 10_000 }: JetStreamBusOptions): Bus {
  const connect = (name: string) => reconnecting({ name, log, open: () => openLink(url) });
  const consuming = connect('NATS');
  // A publication that fails closes its connection, to keep the order; consumers must not fall with it.
  const publishing = connect('NATS for publishing');
  const watchers = new Set<AsyncDisposable>();
  const feed = feedOnStream({ consuming, publishing, log });
  return {
    async publish(service, events) {
      if (events.length > 0) await publishTo(await publishing.current(linkMs).catch(asUnavailable), service, events);
    },
    async follow(subscription, take, signal) {
      // The end of the connection does not end the work on an event: it is acknowledged by nobody and comes again.
      const taking = (delivery: Delivery) => take(delivery, signal);
      const following = consuming.onEvery(`follower ${subscription.name}`, (link, ended) =>
        followStream(link, subscription, { take: taking, ackWaitMs, signal: ended }),
      );
      if (!signal.aborted) await once(signal, 'abort');
      await following[Symbol.asyncDispose]();
    },
    watch(watcher) {
      const watching = consuming.onEvery('watcher', (link, signal) => watchOn({ link, watcher, log, signal }));
      watchers.add(watching);
      return watching;
    },
    async readFrom(after, take, signal) {
      const link = await consuming.current(linkMs).catch(asUnavailable);
      await readStreamFrom(link, after, { take, signal });
    },
    feed,
    async ready() {
      const { manager } = await consuming.current(0).catch(asUnavailable);
      await manager.getAccountInfo().catch(asUnavailable);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([feed, ...watchers].map((watching) => watching[Symbol.asyncDispose]()));
      await Promise.all([consuming[Symbol.asyncDispose](), publishing[Symbol.asyncDispose]()]);
    },
  };
}
