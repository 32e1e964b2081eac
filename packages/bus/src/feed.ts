/**
 * The feeds that agents read, kept for seven days. Every message has a position, in one order for all feeds, so that a reader of several of them
 * goes on from a single number. Source: design, section "Events"; interface 6.1.
 */
export interface Feed {
  /** Appends in order. A message whose id its feed has already counts as appended. Rejects with SERVICE_UNAVAILABLE while the broker is away. */
  append(messages: readonly NewMessage[]): Promise<void>;
  /** Shows a message to those who are subscribed at this moment; nothing keeps it, and it may be lost. */
  show(message: NewMessage): Promise<void>;
  /** Every message after `bounds` was asked comes to the subscriptions that were there before. */
  bounds(): Promise<Bounds>;
  /** The messages of these feeds after a position and up to another, oldest first. */
  read(feeds: readonly string[], range: Range): Promise<FeedMessage[]>;
  /** The newest messages of these feeds, oldest first. */
  latest(feeds: readonly string[], limit: number): Promise<FeedMessage[]>;
  /** Resolves once every later message of the feed will be heard, in the order of positions. */
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

export interface FeedMessage extends Omit<NewMessage, 'id'> {
  /** Undefined where the message is only shown. */
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
  readonly heard: (message: FeedMessage) => void;
  /** The connection was lost and is back: messages in between are in the feed and were not heard. */
  readonly missed: () => void;
}

/** Calls that come while one is in flight share the next one: each gets an answer that began after it was asked for. */
export function shareNext<T>(run: () => Promise<T>): () => Promise<T> {
  let inFlight: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= inFlight.then(() => {
      next = undefined;
      const answer = run();
      inFlight = answer.catch(() => {});
      return answer;
    });
    return next;
  };
}

/** The listeners of a process by feed. */
export type Listeners = Map<string, Set<FeedListener>>;

export function hear(listeners: Listeners, message: FeedMessage): void {
  for (const listener of listeners.get(message.feed) ?? []) listener.heard(message);
}
