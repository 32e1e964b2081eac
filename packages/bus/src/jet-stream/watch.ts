import { EventSchema } from '@acsp/contracts/events/v1/event';
import type { Log } from '@acsp/telemetry';
import { orAborted } from '@acsp/time';
import { fromBinary } from '@bufbuild/protobuf';
import type { Msg } from '@nats-io/transport-node';
import type { Watcher } from '../bus.js';
import { flush, type NatsLink } from './link.js';

export interface WatchOptions {
  readonly link: NatsLink;
  readonly watcher: Watcher;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Listens on the plain subjects, past the stream, which is the fastest way; a watcher needs no event that it misses. */
export async function watchOn({ link, watcher, log, signal }: WatchOptions): Promise<void> {
  const { nats } = link;
  const callback = (error: Error | null, message: Msg) => {
    try {
      if (error) throw error;
      watcher.handle(fromBinary(EventSchema, message.data));
    } catch (cause) {
      log.error({ err: cause, subject: message.subject }, 'a watcher failed');
    }
  };
  const subscriptions = watcher.subjects.map((subject) => nats.subscribe(subject, { callback }));
  await flush(link);
  watcher.onLive?.(true);
  await orAborted(nats.closed(), signal);
  for (const subscription of subscriptions) subscription.unsubscribe();
  watcher.onLive?.(false);
}
