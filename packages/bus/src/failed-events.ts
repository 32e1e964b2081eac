import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type pg from 'pg';

/** The fate of an event whose handler failed: see the table `bus.failed_event`. */
export type FailedState = 'blocking' | 'waiting' | 'dead';

export interface Failure {
  readonly state: FailedState;
  /** Failures of the handler so far. */
  readonly attempts: number;
  readonly error: string;
  readonly delayMs: number;
}

export type KnownFailure = Pick<Failure, 'state' | 'attempts'>;

/** The failed events of one consumer, in the database of its service. */
export interface FailedEvents {
  /** The latest failures by event id: the events that come again after a restart are among them. */
  known(): Promise<Map<string, KnownFailure>>;
  /** Failures of an event so far. */
  attempts(event: Event): Promise<number>;
  record(event: Event, failure: Failure): Promise<void>;
  forget(event: Event): Promise<void>;
  /** An event whose time has come, taken for a minute so that no other replica takes it too. */
  takeDue(): Promise<{ readonly event: Event; readonly attempts: number } | undefined>;
  /** Makes an event that was taken due at once, for another process: this one stops, and its lease would last a minute. */
  release(event: Event): Promise<void>;
  /** The time until the next event is due; Infinity without one. */
  untilDueMs(): Promise<number>;
}

export function failedEvents(pool: pg.Pool, consumer: string): FailedEvents {
  const rows = async <Row extends pg.QueryResultRow>(text: string, ...values: unknown[]) =>
    (await pool.query<Row>(text, [consumer, ...values])).rows;
  return {
    async known() {
      const failures = await rows<KnownFailure & { event_id: string }>(
        `SELECT event_id, state, attempts FROM bus.failed_event WHERE consumer = $1 ORDER BY failed_at DESC LIMIT 1000`,
      );
      return new Map(failures.map((failure) => [failure.event_id, failure]));
    },
    async attempts({ id }) {
      const [row] = await rows<{ attempts: number }>(
        'SELECT attempts FROM bus.failed_event WHERE consumer = $1 AND event_id = $2',
        id,
      );
      return row?.attempts ?? 0;
    },
    async record(event, { state, attempts, error, delayMs }) {
      const bytes = Buffer.from(toBinary(EventSchema, event));
      await rows(
        `INSERT INTO bus.failed_event (consumer, event_id, type, event, state, attempts, error, due_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 millisecond')
          ON CONFLICT (consumer, event_id) DO UPDATE SET state = excluded.state, attempts = excluded.attempts,
            error = excluded.error, due_at = excluded.due_at, failed_at = now()`,
        ...[event.id, event.type, bytes, state, attempts, error.slice(0, 1_000), delayMs],
      );
    },
    async forget({ id }) {
      await rows('DELETE FROM bus.failed_event WHERE consumer = $1 AND event_id = $2', id);
    },
    async takeDue() {
      const [row] = await rows<{ event: Buffer; attempts: number }>(
        `UPDATE bus.failed_event SET due_at = now() + interval '1 minute'
          WHERE consumer = $1 AND event_id = (SELECT event_id FROM bus.failed_event
            WHERE consumer = $1 AND state = 'waiting' AND due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING event, attempts`,
      );
      return row && { event: fromBinary(EventSchema, row.event), attempts: row.attempts };
    },
    async release({ id }) {
      await rows('UPDATE bus.failed_event SET due_at = now() WHERE consumer = $1 AND event_id = $2', id);
    },
    async untilDueMs() {
      const [row] = await rows<{ ms: number | null }>(
        `SELECT (extract(epoch FROM min(due_at) - now()) * 1000)::float8 AS ms
          FROM bus.failed_event WHERE consumer = $1 AND state = 'waiting'`,
      );
      return row?.ms ?? Number.POSITIVE_INFINITY;
    },
  };
}
