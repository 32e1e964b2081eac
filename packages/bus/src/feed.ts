/**
 * The feeds that agents read, kept for seven days. Every message has a position, in one order for all feeds, so that a reader of several of them
 * goes on from a single number. Source: design, section "Events"; interface 6.1.
 */
export interface Feed {
  /** Appends in order. A message whose id its feed has already counts as appended. Rejects with SERVICE_UNAVAILABLE while the broker is away. */
  append(messages: readonly NewMessage[]): Promise<void>;
  /** Gives a message to those who are subscribed at this moment; nothing keeps it, and it may be lost. */
  publishEphemeral(message: NewMessage): Promise<void>;
  /** Every message that is appended after this call comes to the subscriptions that were there before it. */
  bounds(): Promise<Bounds>;
  /** The messages of these feeds after a position and up to another, oldest first. */
  read(feeds: readonly string[], range: Range): Promise<FeedMessage[]>;
  /** The newest messages of these feeds, oldest first: no more than 2 MiB of data, and at least one. */
  latest(feeds: readonly string[], limit: number): Promise<FeedMessage[]>;
  /** Resolves once the listener will get every later message of the feed, in the order of positions. */
  subscribe(feed: string, listener: FeedListener): Promise<Disposable>;
}

export interface NewMessage {
  /** `agent:<aid>`, `channel:<id>`, `presence:<aid>` or `global`. */
  readonly feed: string;
  /** A UUID, for append. */
  readonly id: string;
  /** The kind, such as `message`. */
  readonly event: string;
  /** The channel's name. */
  readonly channel?: string | undefined;
  /** JSON text. */
  readonly data: string;
  readonly created_at: Date;
}

export interface FeedMessage extends Omit<NewMessage, 'id' | 'channel'> {
  readonly channel: string | null;
  /** Undefined where the message is ephemeral. */
  readonly position: number | undefined;
}

/** The positions of the oldest and the newest message that are kept; `first` is `last + 1` where there is none. */
export interface Bounds {
  readonly first: number;
  readonly last: number;
}

export interface Range {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

export interface FeedListener {
  readonly onMessage: (message: FeedMessage) => void;
  /** Messages may be in the feed that the listener has not got: the connection was lost and is back, or one did not come. Another may follow at once. */
  readonly onGap: () => void;
}

/** The data of the newest messages together, in UTF-16 units: an answer with them stays below 8 MiB. */
export const maxLatestLength = 2 ** 21;
