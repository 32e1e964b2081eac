import type pg from 'pg';
import { newId } from './new-id.js';

/** An event that a service is about to announce. Source: design, section "Events". */
export interface NewEvent {
  /** `<noun>.<past verb>`, such as `task.claimed`. The noun chooses the payload's message in the relay. */
  readonly type: string;
  /** The feeds that carry it: `agent:<aid>`, `channel:<id>`, `presence:<id>` or `global`. */
  readonly audience: readonly string[];
  /** The AID of the agent that caused it; absent when the service itself did. */
  readonly actor?: string;
  /** The payload message in proto JSON, as `toJson` makes it. */
  readonly payload: unknown;
}

/** The columns of `bus.outbox` that a writer fills; the others have defaults. */
export interface OutboxRow {
  readonly id: string;
  readonly type: string;
  readonly audience: string[];
  readonly actor: string | null;
  /** JSON text, to be cast to jsonb. */
  readonly payload: string;
}

/** The part of a Prisma client, or of its transaction, that this file needs. */
export interface RawExecutor {
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
}

/**
 * Announces an event together with the change that it tells of: pass the transaction of that change. It is published if and only if that commits.
 * Wake the relay after the commit.
 */
export async function emit(tx: RawExecutor, event: NewEvent): Promise<void> {
  const { id, type, audience, actor, payload } = outboxRow(event);
  await tx.$executeRaw`INSERT INTO bus.outbox (id, type, audience, actor, payload)
    VALUES (${id}::uuid, ${type}, ${audience}::text[], ${actor}, ${payload}::jsonb)`;
}

/** The row that `emit` writes, for a statement that writes it together with others. */
export function outboxRow(event: NewEvent): OutboxRow {
  return {
    id: newId(),
    type: event.type,
    audience: [...event.audience],
    actor: event.actor ?? null,
    payload: JSON.stringify(event.payload),
  };
}

/**
 * Makes a consumer idempotent: notes the event as handled, in the transaction of the handler's own changes.
 * Answers false when it had been handled before; the handler then does nothing.
 */
export async function claimEvent(tx: RawExecutor, consumer: string, eventId: string): Promise<boolean> {
  const inserted = await tx.$executeRaw`INSERT INTO bus.processed (consumer, event_id)
    VALUES (${consumer}, ${eventId}::uuid) ON CONFLICT DO NOTHING`;
  return inserted === 1;
}

const expired = [
  // A published event is kept for a day, and a handled one for longer than the broker keeps it (seven days).
  `DELETE FROM bus.outbox WHERE ctid = ANY (ARRAY(SELECT ctid FROM bus.outbox
    WHERE occurred_at < now() - interval '1 day' AND published_at < now() - interval '1 day'
    LIMIT 1000 FOR UPDATE SKIP LOCKED))`,
  `DELETE FROM bus.processed WHERE (consumer, event_id) IN (SELECT consumer, event_id FROM bus.processed
    WHERE processed_at < now() - interval '8 days' ORDER BY processed_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
];

/** Deletes what is past its time, in batches that hold no lock for long. Safe in any number of processes at once. */
export async function deleteExpired(pool: pg.Pool): Promise<number> {
  let deleted = 0;
  for (const statement of expired) {
    for (let count = 1000; count === 1000; deleted += count) count = (await pool.query(statement)).rowCount ?? 0;
  }
  return deleted;
}
