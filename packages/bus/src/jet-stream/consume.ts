import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import type { Log } from '@acsp/database';
import { fromBinary } from '@bufbuild/protobuf';
import { AckPolicy, DeliverPolicy, JetStreamApiCodes, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { headers, nanos } from '@nats-io/transport-node';
import type { Consumer } from '../bus.js';
import { deliver, type Outcome } from '../deliver.js';
import { consumerLag } from '../metrics.js';
import { createRecent } from '../recent.js';
import { coveringPattern, subjectMatcher } from '../subject.js';
import type { Link } from './link.js';
import { deadLetterSubject, eventStream, orUndefined } from './streams.js';

const ackWaitMs = 30_000;
/** Fetched ahead. Few, because the time for their acknowledgement runs from the moment they were fetched. */
const prefetch = 100;

/** What a durable consumer does on one link after another. */
export function consumeFrom(consumer: Consumer, log: Log): (link: Link, signal: AbortSignal) => Promise<void> {
  const handled = createRecent();
  const takes = subjectMatcher(consumer.subjects);

  async function take(link: Link, message: JsMsg, signal: AbortSignal): Promise<void> {
    if (!takes(message.subject)) return message.ack();
    const event = decode(message);
    if (event === undefined) return settle(link, consumer.name, message, { result: 'dead', error: 'Not an event' });
    // Its acknowledgement was lost with a connection, or with the memory of a broker that was killed.
    if (handled.has(event.id)) return message.ack();
    const trace = { traceparent: message.headers?.get('traceparent'), tracestate: message.headers?.get('tracestate') };
    const attempt = message.info.deliveryCount;
    const outcome = await keptAlive(message, () => deliver({ consumer, event, attempt, trace, log, signal }));
    if (outcome.result === 'handled') handled.add(event.id);
    await settle(link, consumer.name, message, outcome);
  }

  return async (link, signal) => {
    await ensureConsumer(link.manager, consumer);
    const source = await link.client.consumers.get(eventStream, consumer.name);
    const messages = await source.consume({ max_messages: prefetch, abort_on_missing_resource: true });
    const stop = () => messages.stop();
    signal.addEventListener('abort', stop);
    // It may have come while the consumer was being opened.
    if (signal.aborted) stop();
    try {
      for await (const message of messages) {
        // What was fetched ahead goes back, and need not wait for the end of its time.
        if (signal.aborted) message.nak();
        else await take(link, message, signal);
        consumerLag.set({ consumer: consumer.name }, message.info.pending);
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
    if (!link.nats.isClosed()) await link.nats.flush();
  };
}

async function ensureConsumer({ consumers }: JetStreamManager, { name, subjects }: Consumer): Promise<void> {
  const settings = {
    // Not filter_subjects: server 2.10 reads several filters, or one given that way, a hundred times slower once a consumer is behind.
    filter_subject: coveringPattern(subjects),
    ack_wait: nanos(ackWaitMs),
    // Attempts are counted by us, because the broker would drop an event after its last one.
    max_deliver: -1,
    max_ack_pending: 1_000,
  };
  const created = { durable_name: name, ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.All };
  const existing = await orUndefined(consumers.info(eventStream, name), JetStreamApiCodes.ConsumerNotFound);
  if (existing) await consumers.update(eventStream, name, settings);
  else await consumers.add(eventStream, { ...created, ...settings });
}

async function settle({ client }: Link, consumer: string, message: JsMsg, outcome: Outcome): Promise<void> {
  if (outcome.result === 'later') return message.nak(outcome.delayMs);
  if (outcome.result !== 'dead') return outcome.result === 'handled' ? message.ack() : message.nak();
  const reason = headers();
  reason.set('Acsp-Error', outcome.error.replace(/\s+/g, ' ').slice(0, 500));
  const msgID = `${consumer}:${message.seq}`;
  await client.publish(deadLetterSubject(consumer, message.subject), message.data, { msgID, headers: reason });
  message.term();
}

/** Runs something while telling the broker that the message is still being worked on. */
async function keptAlive<T>(message: JsMsg, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => message.working(), ackWaitMs / 3);
  return work().finally(() => clearInterval(timer));
}

function decode(message: JsMsg): Event | undefined {
  try {
    return fromBinary(EventSchema, message.data);
  } catch {
    return undefined;
  }
}
