import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { AppError } from '@acsp/errors';
import { injectTrace, span } from '@acsp/telemetry';
import { toBinary } from '@bufbuild/protobuf';
import { createInbox, headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { subjectOf } from '../subject.js';
import type { NatsLink } from './link.js';

const ackTimeoutMs = 5_000;

/** Publishes all events one behind the other and waits for the broker to have stored them. */
export async function publishTo(link: NatsLink, service: string, events: readonly Event[]): Promise<void> {
  const attributes = { 'messaging.batch.message_count': events.length };
  await span(`publish ${service}`, { kind: 'producer', attributes }, async () => {
    const trace: Record<string, string> = {};
    injectTrace(trace);
    const sent = events.map((event) => {
      const carried = headers();
      carried.set('Nats-Msg-Id', event.id);
      for (const [key, value] of Object.entries(trace)) carried.set(key, value);
      return { subject: subjectOf(service, event.type), data: toBinary(EventSchema, event), headers: carried };
    });
    await sendAll(link, sent);
  });
}

export interface Sent {
  readonly subject: string;
  readonly data: Uint8Array | string;
  readonly headers: MsgHdrs;
}

/** Rejects with SERVICE_UNAVAILABLE unless a stream has stored them all within five seconds. */
export async function sendAll(link: NatsLink, messages: readonly Sent[]): Promise<void> {
  try {
    await send(link, messages);
  } catch (cause) {
    // Some of the messages after the failed one may be in flight. On this connection nothing may follow them.
    await link.nats.close();
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker did not take the events', cause });
  }
}

/** All acknowledgements come to one inbox: an inbox for each message would cost a third more. */
function send({ nats }: NatsLink, messages: readonly Sent[]) {
  return new Promise<void>((resolve, reject) => {
    const inbox = createInbox();
    let missing = messages.length;
    let ended = false;
    const acknowledgements = nats.subscribe(inbox, {
      callback(error, message) {
        const refusal = error ?? refused(message);
        missing -= 1;
        if (refusal !== undefined) end(refusal);
        else if (missing === 0) end();
      },
    });
    const late = setTimeout(() => end(new Error(`${missing} messages were not acknowledged`)), ackTimeoutMs);
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
      for (const { subject, data, headers } of messages) nats.publish(subject, data, { reply: inbox, headers });
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
