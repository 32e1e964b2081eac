import { counter, type Gauge, gauge } from '@acsp/telemetry';

export const published = counter('acsp_events_published_total', 'Events published by the relay', ['service']);
export const parked = counter('acsp_events_parked_total', 'Outbox rows that cannot be published', ['service']);
export const outboxLag = gauge('acsp_outbox_lag_seconds', 'Age of the oldest unpublished event', ['service']);
export const outboxWaiting = gauge('acsp_outbox_waiting', 'Unpublished events, of 100,000 at most', ['service']);
export const consumerLag = gauge('acsp_consumer_lag_seconds', 'Age of the event that a consumer works on', [
  'consumer',
]);
const outcomes = ['consumer', 'outcome'] as const;
export const attempts = counter('acsp_consumer_attempts_total', 'Handlings of events, by outcome', outcomes);
export const deadLetters = counter('acsp_dead_letters_total', 'Events given up by a consumer', ['consumer']);

export interface Lag {
  /** Begins the export with the time at which the event in front occurred, undefined when there is none, and how many wait. */
  at(occurredAt: Date | undefined, waiting?: number): void;
  /** Ends the export after `graceMs`: the figures of a leader are not those of its successor. */
  end(graceMs?: number): void;
}

/** Exports the age of the event in front as it is at each scrape, so that it grows while nothing moves; and where there are `depths`, the number that wait. */
export function createLag<L extends string>(
  ages: Gauge<L>,
  labels: Readonly<Record<L, string>>,
  depths?: Gauge<L>,
): Lag {
  let front: Date | undefined;
  let depth = 0;
  let endsAt = 0;
  let exported = false;
  const read = (value: () => number) => () => {
    exported = Date.now() < endsAt;
    return exported ? value() : undefined;
  };
  return {
    at(occurredAt, waiting = 0) {
      front = occurredAt;
      depth = waiting;
      endsAt = Number.POSITIVE_INFINITY;
      if (exported) return;
      ages.export(
        labels,
        read(() => (front === undefined ? 0 : (Date.now() - front.getTime()) / 1_000)),
      );
      depths?.export(
        labels,
        read(() => depth),
      );
      exported = true;
    },
    end(graceMs = 0) {
      endsAt = Date.now() + graceMs;
    },
  };
}
