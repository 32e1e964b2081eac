import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { create, type DescMessage, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { anyPack, timestampFromDate } from '@bufbuild/protobuf/wkt';

/** The payload message of each noun, such as `{ task: TaskEventSchema }`. */
export type Payloads = Readonly<Record<string, DescMessage>>;

/** A row of `bus.outbox`, as node-postgres reads it. */
export interface StoredEvent {
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly occurred_at: Date;
  readonly audience: string[];
  readonly actor: string | null;
  readonly payload: JsonValue;
}

/** Far below what a broker takes (1 MiB): an event tells of a thing, it does not carry it. */
const maxPayloadBytes = 512 * 1024;

/** Throws when the row can never be an event. */
export function toEvent({ id, type, occurred_at, audience, actor, payload }: StoredEvent, payloads: Payloads): Event {
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
