import type { FeedMessage } from '@acsp/bus';
import type { EventSink, StreamedEvent } from '@acsp/http';
import { eventId } from '../feed/event-id.js';
import type { Grant } from '../token/tokens.js';

/** An open stream. There may be ten thousand of them, so it holds little. */
export interface Radio extends Pick<Grant, 'token_id' | 'aid' | 'since'> {
  /** Counts the streams of its token. */
  number: number;
  readonly sink: EventSink;
  /** The names of its feeds. */
  feeds: readonly string[];
  /** Whose agents' presence is among its feeds. */
  watch_id: string | undefined;
  /** Everything of its feeds up to here has been written; undefined before it begins. */
  position: number | undefined;
  /** Messages that came while the stream catches up; undefined once it is live. */
  behind: Behind | undefined;
  /** In milliseconds since 1970. */
  endsAt: number;
  /** The second of each 15 in which its heartbeat is due. */
  readonly slot: number;
  /** Its channels or its watch list have changed since its feeds were resolved. */
  stale: boolean;
  /** Resolves once it hears those whom its agent watches now; undefined while nothing changes. */
  renewing?: Promise<void> | undefined;
  closed: boolean;
}

/** Answers true for a stream that is being opened, which resolves its feeds once more by itself. */
export function markStale(radio: Radio): boolean {
  radio.stale = true;
  return radio.position === undefined;
}

export interface Behind {
  readonly items: Item[];
  /** The length of their data together. */
  length: number;
  /** More came than is held, or was missed: the feed is to be read again. */
  again: boolean;
  /** The feeds are to be read once this has resolved: until then messages of some of them are not heard. */
  change?: Promise<unknown> | undefined;
  /** Resolves once the stream is live, or has ended. */
  running?: Promise<void>;
}

/** A message of the feed as every stream sends it. */
export interface Item {
  /** Undefined where the feed does not keep it. */
  readonly position: number | undefined;
  readonly event: StreamedEvent;
}

export const toItem = ({ position, event, data }: FeedMessage): Item => ({
  position,
  event: { id: position === undefined ? '' : eventId(position), event, data },
});

/** Why a stream ends (decisions 6.3). */
export type Reason = 'max_duration' | 'slow_consumer' | 'shutdown' | 'token_expired';

/** An event of the stream itself, which the feed does not keep; its id, where it has one, is where the stream is. */
export const ownEvent = (event: string, data: object, position?: number): StreamedEvent => ({
  id: position === undefined ? '' : eventId(position),
  event,
  data: JSON.stringify(data),
});

/** `position` is undefined where the client has none yet. */
export const closing = (reason: Reason, position: number | undefined): StreamedEvent => {
  const last_event_id = position === undefined ? null : eventId(position);
  return ownEvent('closing', { reason, last_event_id, retry_ms: 2_000 });
};
