import type { Event } from '@acsp/contracts/events/v1/event';
import { newId, type RawExecutor } from '@acsp/database';
import { fromMessage, type PublicOf } from '@acsp/operation';
import type { DescMessage } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';

/** The payload message of each noun: `{ task: TaskEventSchema }`. */
export type Payloads = Readonly<Record<string, DescMessage>>;

/** An event that a service announces. Source: design, section "Events". */
export interface NewEvent<Type extends string, Payload> {
  /** `<noun>.<past verb>`, such as `task.claimed`. */
  readonly type: Type;
  /** The feeds that carry it: `agent:<aid>`, `channel:<id>`, `presence:<id>` or `global`. */
  readonly audience: readonly string[];
  /** The AID of the agent that caused it; null when the service itself did. */
  readonly actor: string | null;
  readonly payload: Payload;
}

type OneOf<P extends Payloads> = {
  [Noun in keyof P & string]: NewEvent<`${Noun}.${string}`, PublicOf<P[Noun]>>;
}[keyof P & string];

/** The events of a service, typed by its contract. */
export interface Events<P extends Payloads> {
  readonly payloads: P;
  /** Announces an event together with the change that it tells of: it is published if and only if that transaction commits. */
  emit(tx: RawExecutor, event: OneOf<P>): Promise<void>;
  /** The columns of an event, for a statement that writes it together with its change. */
  row(event: OneOf<P>, at: Date): EventRow;
}

/** Columns by which a statement inserts an event, see insertEvents. */
export interface EventRow {
  readonly event_id: string;
  readonly event_type: string;
  readonly event_at: Date;
  readonly event_audience: readonly string[];
  readonly event_actor: string | null;
  /** JSON text. */
  readonly event_payload: string;
}

export const eventColumns = {
  event_id: 'uuid',
  event_type: 'text',
  event_at: 'timestamptz',
  event_audience: 'text[]',
  event_actor: 'text',
  event_payload: 'text',
} as const satisfies Record<keyof EventRow, string>;

/** A CTE that announces the events of rows which have these columns. */
export const insertEvents = (rows: string): string => `announced AS (
  INSERT INTO bus.outbox (id, type, occurred_at, audience, actor, payload)
  SELECT event_id, event_type, event_at, event_audience, event_actor, event_payload::jsonb FROM ${rows})`;

export function defineEvents<const P extends Payloads>(payloads: P): Events<P> {
  const row = ({ type, audience, actor, payload }: OneOf<P>, at: Date): EventRow => ({
    event_id: newId(),
    event_type: type,
    event_at: at,
    event_audience: audience,
    event_actor: actor,
    event_payload: JSON.stringify(payload),
  });
  return {
    payloads,
    row,
    async emit(tx, event) {
      const { event_id, event_type, event_audience, event_actor, event_payload } = row(event, new Date());
      await tx.$executeRaw`INSERT INTO bus.outbox (id, type, audience, actor, payload)
        VALUES (${event_id}::uuid, ${event_type}, ${event_audience}::text[], ${event_actor}, ${event_payload}::jsonb)`;
    },
  };
}

/** The payload of an event, under its public names. Throws when it carries another message. */
export function payloadOf<Desc extends DescMessage>(schema: Desc, { id, type, payload }: Event): PublicOf<Desc> {
  const message = payload && anyUnpack(payload, schema);
  if (message === undefined) throw new Error(`Event ${id} (${type}) carries no ${schema.typeName}`);
  return fromMessage(schema, message) as PublicOf<Desc>;
}

/**
 * Makes a consumer idempotent that is not by itself: notes the event as handled, in the transaction of the handler's own changes.
 * Answers false when it had been handled before; the handler then does nothing.
 */
export async function claimEvent(tx: RawExecutor, consumer: string, eventId: string): Promise<boolean> {
  const inserted = await tx.$executeRaw`INSERT INTO bus.processed (consumer, event_id)
    VALUES (${consumer}, ${eventId}::uuid) ON CONFLICT DO NOTHING`;
  return inserted === 1;
}
