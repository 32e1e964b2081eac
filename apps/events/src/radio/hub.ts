import type { Feed } from '@acsp/bus';
import type { Log } from '@acsp/telemetry';
import { createCatchUp } from './catch-up.js';
import { closing, type Item, ownEvent, type Radio, type Reason } from './radio.js';
import { createRegistry } from './registry.js';
import { createSubscriptions } from './subscriptions.js';

/** The open streams of this process, and what they are sent. */
export interface Hub extends AsyncDisposable {
  /** Makes a stream known: from now on whatever ends it does, though it has no feed yet. */
  add(radio: Radio): void;
  /** The stream is that of its token from now on, and the one before ends; or it ends itself, where a later one was faster. */
  claim(radio: Radio): void;
  /** Resolves once every later message of its feeds will come to the stream, or wait with it. */
  subscribe(radio: Radio, feeds: readonly string[]): Promise<void>;
  /** The same for an open stream, which misses nothing: neither of its new feeds, nor what the former ones had until then. */
  resubscribe(radio: Radio, feeds: readonly string[]): Promise<void>;
  /** Writes what came after the position of the stream up to `upTo`, then what came since, and then what comes. */
  startReplay(radio: Radio, upTo: number): void;
  close(radio: Radio, reason: Reason): void;
  /** Forgets a stream that has nothing more to write to. */
  remove(radio: Radio): void;
  byToken(token_id: string): Radio | undefined;
  byAgent(aid: string): readonly Radio[];
  all(): Iterable<Radio>;
}

interface HubOptions {
  readonly feed: Feed;
  readonly log: Log;
  /** A stream was removed. */
  readonly onEnd: (radio: Radio) => void;
}

/** A reader that has so much before it is closed; it resumes. */
const maxWaiting = 2 ** 20;
/** Messages that are held for a stream which catches up are no longer than this together, so that they can be written at once. */
const maxBehindLength = 2 ** 18;
const heartbeatSeconds = 15;

export function createHub({ feed, log, onEnd }: HubOptions): Hub {
  const registry = createRegistry();
  const { all, byToken, byAgent } = registry;

  function close(radio: Radio, reason: Reason): void {
    if (radio.closed) return;
    radio.sink.write(closing(reason, radio.position));
    radio.sink.end();
    remove(radio);
  }

  function remove(radio: Radio): void {
    if (radio.closed) return;
    radio.closed = true;
    registry.remove(radio);
    subscriptions.leaveAll(radio);
    onEnd(radio);
  }

  function deliver(radio: Radio, { position, event }: Item): void {
    if (radio.closed || (position !== undefined && position <= (radio.position ?? 0))) return;
    if (position !== undefined) radio.position = position;
    radio.sink.write(event);
    if (radio.sink.waiting() > maxWaiting) close(radio, 'slow_consumer');
  }

  const catchUp = createCatchUp({ feed, log, deliver });
  const subscriptions = createSubscriptions(feed, {
    onItem: (radio, item) => (holdBack(radio, item) ? undefined : deliver(radio, item)),
    onGap: (radio) => void catchUp.again(radio),
  });
  const timer = setInterval(beat(all(), close), 1_000).unref();
  return {
    ...{ close, remove, all, byToken, byAgent },
    add: registry.add,
    claim(radio) {
      const other = byToken(radio.token_id);
      // Two that opened at the same time may come here in the other order.
      if (other !== undefined && other.number > radio.number) return close(radio, 'token_expired');
      registry.claim(radio);
      if (other !== undefined) close(other, 'token_expired');
    },
    subscribe: subscriptions.subscribe,
    async resubscribe(radio, feeds) {
      const change = subscriptions.subscribe(radio, [...new Set([...radio.feeds, ...feeds])]);
      const settled = change.catch(() => {});
      const live = catchUp.again(radio, settled);
      await change;
      await live;
      if (radio.closed) return;
      // Meanwhile the agent may have left a channel.
      await subscriptions.subscribe(
        radio,
        radio.feeds.filter((name) => feeds.includes(name)),
      );
    },
    startReplay: catchUp.from,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      for (const radio of all()) close(radio, 'shutdown');
    },
  };
}

/** True where the stream still catches up: then the message waits, or is read again. */
function holdBack({ behind }: Radio, item: Item): boolean {
  if (behind === undefined) return false;
  // An ephemeral message is of the moment.
  if (item.position === undefined || behind.again) return true;
  behind.length += item.event.data.length;
  if (behind.length <= maxBehindLength) behind.items.push(item);
  else behind.again = true;
  return true;
}

/** One timer for all streams: heartbeats, spread over their interval, and ends. */
function beat(radios: Iterable<Radio>, close: Hub['close']): () => void {
  let second = 0;
  return () => {
    const now = Date.now();
    second = (second + 1) % heartbeatSeconds;
    const heartbeat = ownEvent('heartbeat', { ts: new Date(now).toISOString() });
    for (const radio of radios) {
      if (now >= radio.endsAt) close(radio, 'max_duration');
      else if (radio.slot === second && radio.position !== undefined) radio.sink.write(heartbeat);
    }
  };
}
