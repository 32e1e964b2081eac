import type { Event } from '@acsp/contracts/events/v1/event';
import type { Carrier } from '@acsp/telemetry';
import type { Feed } from './feed.js';

/** Carries domain events between services. Source: design, section "Events". */
export interface Bus extends AsyncDisposable {
  /**
   * Publishes events of a service in order, each on the subject `acsp.<service>.<type>`. An event whose id is known already counts as published.
   * Rejects with SERVICE_UNAVAILABLE within seconds when the broker cannot take them; some of them may be published then, from the first on.
   */
  publish(service: string, events: readonly Event[]): Promise<void>;

  /**
   * Takes the events of a subscription one after the other, from where its last follower stopped. Resolves once the signal has ended it and the event
   * in hand is settled. An event whose `take` rejects, or whose process dies, comes again; an outage of the broker only makes it wait.
   */
  follow(subscription: Subscription, take: Take, signal: AbortSignal): Promise<void>;

  /** Sees events from now on, in every process that watches, without storing a position. For caches. */
  watch(watcher: Watcher): AsyncDisposable;

  /**
   * Takes all events after a position, those that the bus still has and then those that come, in batches and in their order, until the signal.
   * The caller keeps the position; undefined is the oldest event. A position that the bus has never reached is that of one which lost everything:
   * it begins anew. Rejects when the broker is lost, and where `take` does.
   */
  readFrom(after: string | undefined, take: TakeBatch, signal: AbortSignal): Promise<void>;

  /** The feeds that agents read. */
  readonly feed: Feed;

  /** For readiness: rejects with SERVICE_UNAVAILABLE while the broker cannot be used. */
  ready(): Promise<void>;
}

export interface Subscription {
  /** `tasks-agent-deleted`: service and purpose. The position belongs to the name. */
  readonly name: string;
  /** NATS patterns: `acsp.tasks.>`, `acsp.*.agent.deleted`. */
  readonly subjects: readonly string[];
  /** A name without a position begins at the next event, or at the oldest one that the bus still has (indexes and caches only). */
  readonly start: 'now' | 'kept';
  /** Events come in order, those that come again too, while one process at a time follows the name. */
  readonly exclusive: boolean;
}

/** The signal aborts when the event is going to be given to somebody else. */
export type Take = (delivery: Delivery, signal: AbortSignal) => Promise<void>;

export interface Delivery {
  readonly event: Event;
  /** The trace of the publication. */
  readonly trace: Carrier;
}

/** `position` is that of the last event. */
export type TakeBatch = (events: readonly Event[], position: string) => Promise<void>;

export interface Watcher {
  readonly subjects: readonly string[];
  /** Handlers run in order; an event that was published twice may be seen twice. */
  readonly handle: (event: Event) => void;
  /** `true` once every later event will be seen, `false` when that ends. Events in between are missed, so caches must be invalidated. */
  readonly onLive?: (live: boolean) => void;
}
