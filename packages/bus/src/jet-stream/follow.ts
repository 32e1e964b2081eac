import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { fromBinary } from '@bufbuild/protobuf';
import {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  JetStreamApiCodes,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Delivery, Subscription } from '../bus.js';
import { coveringPattern, subjectMatcher } from '../subject.js';
import { flush, type NatsLink } from './link.js';
import { eventStream, orUndefined } from './streams.js';

/** Unacknowledged events of a parallel consumer, in all replicas together. */
const inFlight = 100;
/** How long a request for the next message stands. */
const fetchMs = 30_000;

interface Following {
  readonly take: (delivery: Delivery) => Promise<void>;
  /** A message whose process has died comes again after so long; a living one asks for more time. */
  readonly ackWaitMs: number;
  readonly signal: AbortSignal;
}

/** Takes the messages of a durable consumer on one connection, one after the other, until the signal. */
export async function followStream(link: NatsLink, subscription: Subscription, following: Following): Promise<void> {
  const { take, ackWaitMs, signal } = following;
  await ensureConsumer(link.manager, subscription, ackWaitMs);
  const source = await link.client.consumers.get(eventStream, subscription.name);
  const fits = subjectMatcher(subscription.subjects);
  while (!signal.aborted) {
    const message = await nextMessage(source, signal);
    if (message === undefined) continue;
    const unlessClosed = (tell: () => void) => link.nats.isClosed() || tell();
    const keeping = setInterval(() => unlessClosed(() => message.working()), ackWaitMs / 4);
    try {
      await settle(message, fits, take);
    } catch (error) {
      unlessClosed(() => message.nak());
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(keeping);
    }
  }
  if (!link.nats.isClosed()) await flush(link).catch(() => {});
}

/** Fetches one message at a time: a replica that fetched more would keep them from the others while its handler runs. */
async function nextMessage(source: Consumer, signal: AbortSignal): Promise<JsMsg | undefined> {
  const fetched = await source.fetch({ max_messages: 1, expires: fetchMs });
  const stop = () => fetched.stop();
  signal.addEventListener('abort', stop);
  try {
    if (signal.aborted) stop();
    for await (const message of fetched) return message;
    return undefined;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function settle(message: JsMsg, fits: (subject: string) => boolean, take: Following['take']): Promise<void> {
  if (!fits(message.subject)) return message.ack();
  const event = decode(message.data);
  // Another client publishes on our subjects: a retry would not turn its message into an event.
  if (event === undefined) return message.term('not an acsp.events.v1.Event');
  const trace = { traceparent: message.headers?.get('traceparent'), tracestate: message.headers?.get('tracestate') };
  await take({ event, trace });
  message.ack();
}

function decode(bytes: Uint8Array): Event | undefined {
  try {
    return fromBinary(EventSchema, bytes);
  } catch {
    return undefined;
  }
}

async function ensureConsumer(manager: JetStreamManager, subscription: Subscription, ackWaitMs: number): Promise<void> {
  const { name, subjects, start, exclusive } = subscription;
  const settings = {
    // Server 2.10 reads several filters, or one given as filter_subjects, a hundred times slower once a consumer is behind.
    filter_subject: coveringPattern(subjects),
    ack_wait: nanos(ackWaitMs),
    // Attempts are counted by us, because the broker would drop an event after its last one.
    max_deliver: -1,
    // An exclusive follower has one message in flight, so that a message which comes again comes before those behind it.
    max_ack_pending: exclusive ? 1 : inFlight,
  };
  const { consumers } = manager;
  const existing = await orUndefined(consumers.info(eventStream, name), JetStreamApiCodes.ConsumerNotFound);
  if (existing) await consumers.update(eventStream, name, settings);
  else {
    const deliver_policy = start === 'now' ? DeliverPolicy.New : DeliverPolicy.All;
    const created = { durable_name: name, ack_policy: AckPolicy.Explicit, deliver_policy, ...settings };
    await consumers.add(eventStream, created);
  }
}
