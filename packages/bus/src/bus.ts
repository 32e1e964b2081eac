import type { Event } from '@acsp/contracts/events/v1/event';

/** Carries domain events between services. Source: design, section "Events". */
export interface Bus extends AsyncDisposable {
  /**
   * Publishes events of a service in order, each on the subject `acsp.<service>.<type>`. An event whose id is known already counts as published.
   * Rejects with SERVICE_UNAVAILABLE within seconds when the broker cannot take them; some of them may be published then, from the first on.
   */
  publish(service: string, events: readonly Event[]): Promise<void>;

  /**
   * Handles every event since the consumer exists, whoever runs: instances with the same name share the work, and a restart goes on where the last one
   * stopped. At least once, so the handler is idempotent. In order, but for an event that failed or whose consumer died: that one comes again later.
   * Resolves at once; while the broker is down it waits in the background.
   */
  consume(consumer: Consumer): Promise<AsyncDisposable>;

  /** Sees events from now on, in every process that watches, without storing a position. For caches. */
  watch(watcher: Watcher): Promise<AsyncDisposable>;

  /** For readiness: rejects with SERVICE_UNAVAILABLE while the broker cannot be used. */
  ready(): Promise<void>;
}

export interface Consumer {
  /** `<service>-<what>`, such as `search-index`. The position belongs to the name. */
  readonly name: string;
  /** NATS patterns: `acsp.tasks.>`, `acsp.*.agent.deleted`. */
  readonly subjects: readonly string[];
  /**
   * One event at a time; at most 30 seconds. An error means a later attempt; SERVICE_UNAVAILABLE means a dependency that is down, for which the
   * consumer stands still for up to a minute, and which never makes a dead letter.
   */
  readonly handle: (event: Event, info: { readonly attempt: number }) => Promise<void>;
  /** After so many attempts an event becomes a dead letter; 8 when absent. */
  readonly maxAttempts?: number;
  /** The pause after each failed attempt, the last one repeated; from a second to five minutes when absent. */
  readonly backoffMs?: readonly number[];
}

export interface Watcher {
  readonly subjects: readonly string[];
  /** Called in order; an event that was published twice may be seen twice. */
  readonly handle: (event: Event) => void;
  /** `true` once every later event will be seen, `false` when that ends. Events in between are missed: forget what was cached. */
  readonly onLive?: (live: boolean) => void;
}
