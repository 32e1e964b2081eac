import { EventSchema } from '@acsp/contracts/events/v1/event';
import { fromBinary } from '@bufbuild/protobuf';
import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { TakeBatch } from '../bus.js';
import type { NatsLink } from './link.js';
import { eventStream } from './streams.js';

interface Reading {
  readonly take: TakeBatch;
  readonly signal: AbortSignal;
}

const batchSize = 500;
const fetchMs = 30_000;

/** Reads without acknowledgements, so that a reader which begins again gets everything from its own position on, in order. */
export async function readStreamFrom(link: NatsLink, after: string | undefined, reading: Reading): Promise<void> {
  const { take, signal } = reading;
  const source = await readerAt(link, after);
  while (!signal.aborted) {
    const fetched = await source.fetch({ max_messages: batchSize, expires: fetchMs });
    const stop = () => fetched.stop();
    signal.addEventListener('abort', stop);
    let batch: JsMsg[] = [];
    const flush = async () => {
      const last = batch.at(-1);
      if (last !== undefined) await take(batch.flatMap(decode), `${last.seq}`);
      batch = [];
    };
    try {
      for await (const message of fetched) {
        batch.push(message);
        // The message in hand counts as pending.
        if (fetched.getPending() <= 1) await flush();
      }
      if (!signal.aborted) await flush();
    } finally {
      signal.removeEventListener('abort', stop);
    }
    // A consumer that is gone ends each fetch at once and without an error; asking for it rejects.
    if (fetched.getReceived() === 0) await source.info();
  }
}

async function readerAt({ manager, client }: NatsLink, after: string | undefined): Promise<Consumer> {
  const { state } = await manager.streams.info(eventStream);
  const from = Number(after ?? 0);
  const reader = await manager.consumers.add(eventStream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from > state.last_seq ? 1 : from + 1,
    inactive_threshold: nanos(2 * fetchMs),
    mem_storage: true,
    num_replicas: 1,
  });
  return client.consumers.getConsumerFromInfo(reader);
}

/** Another client may publish on our subjects what is no event. */
function decode({ data }: JsMsg) {
  try {
    return [fromBinary(EventSchema, data)];
  } catch {
    return [];
  }
}
