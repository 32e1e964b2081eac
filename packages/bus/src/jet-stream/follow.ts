import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { fromBinary } from '@bufbuild/protobuf';
import { AckPolicy, DeliverPolicy, JetStreamApiCodes, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Delivery, Subscription } from '../bus.js';
import { coveringPattern, subjectMatcher } from '../subject.js';
import type { NatsLink } from './link.js';
import { eventStream, orUndefined } from './streams.js';

/** A message whose process has died comes again after so long; a living one asks for more time. */
const ackWaitMs = 10_000;
/** Fetched ahead by a parallel consumer. Few, because the time for their acknowledgement runs from the moment they were fetched. */
const prefetch = 100;

interface Following {
  readonly take: (delivery: Delivery) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Takes the messages of a durable consumer until the signal or the end of the connection. */
export async function followStream(link: NatsLink, subscription: Subscription, following: Following): Promise<void> {
  const { name, subjects, exclusive } = subscription;
  const { take, signal } = following;
  const fits = subjectMatcher(subjects);
  await ensureConsumer(link.manager, subscription);
  const source = await link.client.consumers.get(eventStream, name);
  const messages = await source.consume({ max_messages: exclusive ? 1 : prefetch, abort_on_missing_resource: true });
  const stop = () => messages.stop();
  signal.addEventListener('abort', stop);
  // It may have come while the consumer was being opened.
  if (signal.aborted) stop();
  try {
    for await (const message of messages) {
      // What was fetched ahead goes back, and need not wait for the end of its time.
      if (signal.aborted) message.nak();
      else if (!fits(message.subject)) message.ack();
      else await takeAlive(message, take);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    messages.stop();
  }
  if (!link.nats.isClosed()) await link.nats.flush();
  if (!signal.aborted) throw new Error('the broker ended the subscription');
}

/** Tells the broker that the message is still being worked on, so that it gives it to nobody else. */
async function takeAlive(message: JsMsg, take: Following['take']): Promise<void> {
  const delivery = toDelivery(message);
  // Somebody else publishes on our subjects: it will not become an event by coming again.
  if (delivery === undefined) return message.term('not an acsp.events.v1.Event');
  const timer = setInterval(() => message.working(), ackWaitMs / 4);
  try {
    await take(delivery);
    message.ack();
  } catch (error) {
    message.nak();
    throw error;
  } finally {
    clearInterval(timer);
  }
}

function toDelivery(message: JsMsg): Delivery | undefined {
  const event = decode(message.data);
  if (event === undefined) return undefined;
  const trace = { traceparent: message.headers?.get('traceparent'), tracestate: message.headers?.get('tracestate') };
  return { event, trace, behind: message.info.pending };
}

function decode(bytes: Uint8Array): Event | undefined {
  try {
    return fromBinary(EventSchema, bytes);
  } catch {
    return undefined;
  }
}

async function ensureConsumer({ consumers }: JetStreamManager, subscription: Subscription): Promise<void> {
  const { name, subjects, start, exclusive } = subscription;
  const settings = {
    // Not filter_subjects: server 2.10 reads several filters, or one given that way, a hundred times slower once a consumer is behind.
    filter_subject: coveringPattern(subjects),
    ack_wait: nanos(ackWaitMs),
    // Attempts are counted by us, because the broker would drop an event after its last one.
    max_deliver: -1,
    // One, so that a message which comes again comes before those behind it.
    max_ack_pending: exclusive ? 1 : 1_000,
  };
  const existing = await orUndefined(consumers.info(eventStream, name), JetStreamApiCodes.ConsumerNotFound);
  if (existing) await consumers.update(eventStream, name, settings);
  else {
    const deliver_policy = start === 'now' ? DeliverPolicy.New : DeliverPolicy.All;
    await consumers.add(eventStream, { durable_name: name, ack_policy: AckPolicy.Explicit, deliver_policy, ...settings });
  }
}
