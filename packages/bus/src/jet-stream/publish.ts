import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { AppError } from '@acsp/errors';
import { injectTrace, span } from '@acsp/telemetry';
import { toBinary } from '@bufbuild/protobuf';
import { createInbox, headers, type Msg } from '@nats-io/transport-node';
import { subjectOf } from '../subject.js';
import type { NatsLink } from './link.js';

const ackTimeoutMs = 5_000;

/** Sends all events one behind the other and waits for the broker to have stored them. */
export async function publishTo(link: NatsLink, service: string, events: readonly Event[]): Promise<void> {
  const attributes = { 'messaging.batch.message_count': events.length };
  try {
    await span(`publish ${service}`, { kind: 'producer', attributes }, async () => {
      const trace = {};
      injectTrace(trace);
      await send(link, service, events, trace);
    });
  } catch (cause) {
    // Some of the events after the failed one may be in flight. On this connection nothing may follow them.
    await link.nats.close();
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker did not take the events', cause });
  }
}

/** All acknowledgements come to one inbox: an inbox for each event would cost a third more. */
function send({ nats }: NatsLink, service: string, events: readonly Event[], trace: Record<string, string>) {
  return new Promise<void>((resolve, reject) => {
    const inbox = createInbox();
    let missing = events.length;
    let ended = false;
    const acknowledgements = nats.subscribe(inbox, {
      callback(error, message) {
        const refusal = error ?? refused(message);
        missing -= 1;
        if (refusal !== undefined) end(refusal);
        else if (missing === 0) end();
      },
    });
    const late = setTimeout(() => end(new Error(`${missing} events were not acknowledged`)), ackTimeoutMs);
    const end = (error?: Error) => {
      if (ended) return;
      ended = true;
      clearTimeout(late);
      acknowledgements.unsubscribe();
      if (error === undefined) resolve();
      else reject(error);
    };
    // The end of the connection ends the wait.
    acknowledgements.closed.then(() => ended || end(new Error('The connection was closed')));
    try {
      for (const event of events) {
        const carried = headers();
        carried.set('Nats-Msg-Id', event.id);
        for (const [key, value] of Object.entries(trace)) carried.set(key, value);
        nats.publish(subjectOf(service, event.type), toBinary(EventSchema, event), { reply: inbox, headers: carried });
      }
    } catch (error) {
      end(error as Error);
    }
  });
}

/** The error of an answer that is no JetStream acknowledgement: an error, or the notice that nobody listens. That of a duplicate is one like any other. */
function refused(message: Msg): Error | undefined {
  const answer = message.data.length > 0 ? message.json<{ stream?: string; error?: { description?: string } }>() : {};
  if (answer.stream !== undefined && answer.error === undefined) return undefined;
  return new Error(answer.error?.description ?? 'No stream takes the event');
}
