import { AckPolicy, type Consumer, DeliverPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { FeedMessage, Range } from '../feed.js';
import { toFeedMessage } from './feed-message.js';
import type { NatsLink } from './link.js';
import { feedStream, feedSubject } from './streams.js';

interface Reader {
  readonly source: Consumer;
  readonly name: string;
  /** How many messages of the feeds there are from the start on. */
  readonly found: number;
}

const fetchMs = 2_000;

/** Through a consumer of its own, because that answers from the stream's leader: another server may not have the newest messages yet. */
export async function readFeed(link: NatsLink, feeds: readonly string[], range: Range): Promise<FeedMessage[]> {
  const { after, upTo, limit } = range;
  if (after >= upTo) return [];
  const reader = await openReader(link, feeds, after + 1);
  const messages = await take(link, reader, Math.min(reader.found, limit));
  return messages.filter(({ position = 0 }) => position <= upTo);
}

/** The stream can be read forwards only: the start is searched for, by the number of messages that follow it. */
export async function readLatest(link: NatsLink, feeds: readonly string[], limit: number): Promise<FeedMessage[]> {
  const { state } = await link.manager.streams.info(feedStream);
  let [from, to] = [state.first_seq, state.last_seq + 1];
  // The sought start is in [from, to): at `from` there are enough messages, or as many as there are at all.
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    const found = await count(link, feeds, middle);
    if (found >= limit) from = middle;
    else to = middle;
    if (found === limit) break;
  }
  const reader = await openReader(link, feeds, from);
  return (await take(link, reader, reader.found)).slice(-limit);
}

async function count(link: NatsLink, feeds: readonly string[], start: number): Promise<number> {
  const { name, found } = await openReader(link, feeds, start);
  await link.manager.consumers.delete(feedStream, name);
  return found;
}

async function openReader({ manager, client }: NatsLink, feeds: readonly string[], start: number): Promise<Reader> {
  const { name, num_pending } = await manager.consumers.add(feedStream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(start, 1),
    filter_subjects: [...new Set(feeds)].map(feedSubject),
    inactive_threshold: nanos(5_000),
    mem_storage: true,
    num_replicas: 1,
  });
  return { source: await client.consumers.get(feedStream, name), name, found: num_pending };
}

async function take({ manager }: NatsLink, { source, name }: Reader, wanted: number): Promise<FeedMessage[]> {
  const messages: FeedMessage[] = [];
  if (wanted > 0) {
    const fetched = await source.fetch({ max_messages: wanted, expires: fetchMs });
    for await (const message of fetched) messages.push(toFeedMessage(message, 'feed.', message.seq));
  }
  await manager.consumers.delete(feedStream, name);
  return messages;
}
