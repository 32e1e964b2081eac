import { fileURLToPath } from 'node:url';
import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import type { ExpiredRows, MigrationSet } from '@acsp/database';
import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { anyPack, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Payloads } from './events.js';

/** The tables of a service that announces or consumes events. */
export const outboxMigrations: MigrationSet = {
  directory: fileURLToPath(new URL('../migrations/outbox', import.meta.url)),
  schema: 'bus',
};

/** A row of `bus.outbox`, as node-postgres reads it. */
export interface OutboxRow {
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly occurred_at: Date;
  readonly audience: string[];
  readonly actor: string | null;
  readonly payload: JsonValue;
}

/** The limit is far below a broker's (1 MiB): an event tells of a thing, it does not carry it. */
const maxPayloadBytes = 512 * 1024;

/** Throws when the row can never be an event. */
export function toEvent({ id, type, occurred_at, audience, actor, payload }: OutboxRow, payloads: Payloads): Event {
  const noun = type.split('.', 1)[0] ?? '';
  const schema = Object.hasOwn(payloads, noun) ? payloads[noun] : undefined;
  if (schema === undefined) throw new Error(`No payload message is known for ${type}`);
  // During a rolling update a row may have a field that this version does not know yet.
  const message = fromJson(schema, payload, { ignoreUnknownFields: true });
  const packed = anyPack(schema, message);
  if (packed.value.length > maxPayloadBytes) throw new Error(`The payload has ${packed.value.length} bytes`);
  const occurredAt = timestampFromDate(occurred_at);
  return create(EventSchema, { id, type, occurredAt, audience, actor: actor ?? undefined, payload: packed });
}

/** A published event is kept for a day, a handled one for longer than the broker keeps it (seven days). */
export const expiredEvents: readonly ExpiredRows[] = [
  {
    table: 'bus.outbox',
    key: 'position',
    where: "occurred_at < now() - interval '1 day' AND published_at < now() - interval '1 day'",
  },
  {
    table: 'bus.processed',
    key: 'consumer, event_id',
    where: "processed_at < now() - interval '8 days' ORDER BY processed_at",
  },
];
