import { AckPolicy, type ConsumerInfo, DeliverPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type FeedMessage, maxLatestLength, type Range } from '../feed.js';
import { toFeedMessage } from './feed-message.js';
import type { NatsLink } from './link.js';
import { feedStream, feedSubject } from './streams.js';

const fetchMs = 2_000;
/** Messages that are in memory at the same time, however many are passed over. */
const pageSize = 50;

/** Through a consumer of its own, because that answers from the stream's leader: another server may not have the newest messages yet. */
export async function readFeed(link: NatsLink, feeds: readonly string[], range: Range): Promise<FeedMessage[]> {
  const { after, upTo, limit } = range;
  if (after >= upTo) return [];
  const reader = await openReader(link, feeds, after + 1);
  const messages: FeedMessage[] = [];
  await take(link, reader, { wanted: Math.min(reader.num_pending, limit), each: (message) => messages.push(message) });
  return messages.filter(({ position = 0 }) => position <= upTo);
}

/** The stream can be read forwards only: the start is searched for, by the number of messages that follow it. */
export async function readLatest(link: NatsLink, feeds: readonly string[], limit: number): Promise<FeedMessage[]> {
  const reader = await openReader(link, feeds, await findStart(link, feeds, limit));
  const newest: FeedMessage[] = [];
  let length = 0;
  const each = (message: FeedMessage) => {
    newest.push(message);
    length += message.data.length;
    while (newest.length > limit || (length > maxLatestLength && newest.length > 1))
      length -= newest.shift()?.data.length ?? 0;
  };
  await take(link, reader, { wanted: reader.num_pending, each });
  return newest;
}

/** A start from which there are `limit` messages and not many more, or all that there are. */
async function findStart(link: NatsLink, feeds: readonly string[], limit: number): Promise<number> {
  const { state } = await link.manager.streams.info(feedStream);
  let [from, to] = [state.first_seq, state.last_seq + 1];
  // The start is in [from, to): at `from` there are enough messages, or as many as there are at all.
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    const { name, num_pending } = await openReader(link, feeds, middle);
    await link.manager.consumers.delete(feedStream, name);
    if (num_pending < limit) to = middle;
    else from = middle;
    if (num_pending === limit) break;
  }
  return from;
}

function openReader({ manager }: NatsLink, feeds: readonly string[], start: number): Promise<ConsumerInfo> {
  return manager.consumers.add(feedStream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(start, 1),
    filter_subjects: [...new Set(feeds)].map(feedSubject),
    inactive_threshold: nanos(5_000),
    mem_storage: true,
    num_replicas: 1,
  });
}

interface Taking {
  readonly wanted: number;
  readonly each: (message: FeedMessage) => void;
}

async function take({ manager, client }: NatsLink, reader: ConsumerInfo, { wanted, each }: Taking): Promise<void> {
  const source = client.consumers.getConsumerFromInfo(reader);
  for (let left = wanted; left > 0; ) {
    const asked = Math.min(left, pageSize);
    let came = 0;
    for await (const message of await source.fetch({ max_messages: asked, expires: fetchMs })) {
      came += 1;
      each(toFeedMessage(message, 'feed.', message.seq));
    }
    // A reader that takes a part for the whole would pass over the rest for ever.
    if (came < asked) throw new Error(`${came} of ${asked} messages came in time`);
    left -= came;
  }
  await manager.consumers.delete(feedStream, reader.name);
}
