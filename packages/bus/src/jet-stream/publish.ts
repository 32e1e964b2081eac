import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { AppError } from '@acsp/errors';
import { injectTrace, span } from '@acsp/telemetry';
import { toBinary } from '@bufbuild/protobuf';
import { headers } from '@nats-io/transport-node';
import { subjectOf } from '../subject.js';
import type { Link } from './link.js';

const ackTimeoutMs = 5_000;

/** Sends all events one behind the other and waits for the broker to have stored them. */
export async function publishTo(link: Link, service: string, events: readonly Event[]): Promise<void> {
  const attributes = { 'messaging.batch.message_count': events.length };
  try {
    await span(`publish ${service}`, { kind: 'producer', attributes }, async () => {
      const trace = {};
      injectTrace(trace);
      await Promise.all(events.map((event) => send(link, service, event, trace)));
    });
  } catch (cause) {
    // Of the events after the failed one some may be on their way. On this connection nothing may follow them.
    await link.nats.close();
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker did not take the events', cause });
  }
}

function send({ client }: Link, service: string, event: Event, trace: Record<string, string>): Promise<unknown> {
  const carried = headers();
  for (const [key, value] of Object.entries(trace)) carried.set(key, value);
  // The acknowledgement of a duplicate is one like any other.
  return client.publish(subjectOf(service, event.type), toBinary(EventSchema, event), {
    msgID: event.id,
    timeout: ackTimeoutMs,
    headers: carried,
  });
}
