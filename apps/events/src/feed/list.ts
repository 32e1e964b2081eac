import type { Feed, FeedMessage } from '@acsp/bus';
import type { FeedEventSchema } from '@acsp/contracts/events/v1/events';
import { AppError } from '@acsp/errors';
import type { PublicOf } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import { eventId } from './event-id.js';

interface Listing {
  /** The position that the reader has; undefined asks for the newest. */
  readonly after: number | undefined;
  readonly limit: number;
}

export interface FeedPage {
  readonly events: PublicOf<typeof FeedEventSchema>[];
  /** Something between `after` and the first of them may be kept no longer. */
  readonly truncated: boolean;
}

/** A page is 5 MiB at most, however its texts are escaped. */
export const pageSize = 50;
/** An answer ends with the page that reaches it, so it stays below 8 MiB; the reader goes on from its last event. */
const maxLength = 2 ** 21;

/** The events of feeds after a position, or the newest, oldest first. Throws INVALID_EVENT_ID for a position that no event has had yet. */
export async function listFeeds(feed: Feed, feeds: readonly string[], { after, limit }: Listing): Promise<FeedPage> {
  if (after === undefined) return { events: (await feed.latest(feeds, limit)).map(present), truncated: false };
  const { first, last } = await feed.bounds();
  if (after > last) throw new AppError('INVALID_EVENT_ID', { detail: 'No event has this id yet' });
  const messages: FeedMessage[] = [];
  for (let [from, length] = [after, 0]; messages.length < limit && length < maxLength; ) {
    const range = { after: from, upTo: last, limit: Math.min(pageSize, limit - messages.length) };
    const page = await feed.read(feeds, range);
    messages.push(...page);
    if (page.length < range.limit) break;
    from = page.at(-1)?.position ?? last;
    length += page.reduce((sum, { data }) => sum + data.length, 0);
  }
  return { events: messages.map(present), truncated: after + 1 < first };
}

const present = ({ position = 0, event, channel, data, created_at }: FeedMessage) => ({
  id: eventId(position),
  event,
  channel: channel ?? null,
  data: JSON.parse(data) as JsonObject,
  created_at,
});
