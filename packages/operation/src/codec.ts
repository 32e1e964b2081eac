import { create, type DescField, type DescMessage, type Message, type ScalarType } from '@bufbuild/protobuf';
import { scalarZeroValue } from '@bufbuild/protobuf/reflect';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';

/** Members of a JSON object, of a query, or of a message under its proto names. */
export type Fields = Record<string, unknown>;

type Convert = (value: never) => unknown;

interface Member {
  /** In JSON, rows and handlers. */
  readonly name: string;
  /** In generated code. */
  readonly local: string;
  /** The value of a field that is absent. Lists are made anew each time. */
  readonly zero: () => unknown;
  readonly isZero: (value: unknown) => boolean;
  readonly toJson: Convert | undefined;
  readonly toMessage: Convert | undefined;
  readonly fromMessage: Convert | undefined;
  readonly toFields: Convert | undefined;
}

const compiled = new WeakMap<DescMessage, readonly Member[]>();

function membersOf(schema: DescMessage): readonly Member[] {
  let members = compiled.get(schema);
  if (members === undefined) {
    members = schema.fields.map(toMember);
    compiled.set(schema, members);
  }
  return members;
}

/** An answer as JSON has it: every field of the contract, times as ISO 8601 in milliseconds, null for what is not set. */
export function toJson(schema: DescMessage, answer: unknown): Fields {
  const json: Fields = {};
  for (const { name, zero, toJson: convert } of membersOf(schema)) {
    const value = (answer as Fields)[name];
    if (value === undefined || value === null) json[name] = zero();
    else json[name] = convert === undefined ? value : convert(value as never);
  }
  return json;
}

/** A message of the contract from what a handler returned or a client gave. */
export function toMessage(schema: DescMessage, value: unknown): Message {
  const message = create(schema);
  for (const { name, local, toMessage: convert } of membersOf(schema)) {
    const member = (value as Fields)[name];
    if (member !== undefined && member !== null)
      (message as unknown as Fields)[local] = convert === undefined ? member : convert(member as never);
  }
  return message;
}

/** A message under its proto names, with null for what is not set. */
export function fromMessage(schema: DescMessage, message: Message): Fields {
  const fields: Fields = {};
  for (const { name, local, fromMessage: convert } of membersOf(schema)) {
    const value = (message as unknown as Fields)[local];
    if (value === undefined) fields[name] = null;
    else fields[name] = convert === undefined ? value : convert(value as never);
  }
  return fields;
}

/** A request as if it had come as JSON: what is not set, empty or zero is absent, so that both doors refuse it with the same code. */
export function requestFields(schema: DescMessage, message: Message): Fields {
  const fields: Fields = {};
  for (const { name, local, isZero, toFields: convert } of membersOf(schema)) {
    const value = (message as unknown as Fields)[local];
    if (value === undefined || isZero(value)) continue;
    fields[name] = convert === undefined ? value : convert(value as never);
  }
  return fields;
}

function toMember(field: DescField): Member {
  if (field.fieldKind === 'map' || field.oneof !== undefined || field.fieldKind === 'enum' || is64Bit(field)) {
    throw new Error(`${field} has no public form`);
  }
  const names = { name: field.name, local: field.localName };
  const one = converters(field.message);
  if (field.fieldKind === 'list') {
    const all = (convert: Convert | undefined) => convert && ((values: never[]) => values.map(convert));
    return {
      ...names,
      zero: () => [],
      isZero: (value) => (value as unknown[]).length === 0,
      toJson: all(one?.toJson),
      toMessage: all(one?.toMessage),
      fromMessage: all(one?.fromMessage),
      toFields: all(one?.toFields),
    };
  }
  const optional = field.fieldKind === 'message' || field.presence === 1;
  const zero = optional ? () => null : () => scalarZeroValue(field.scalar as ScalarType, false);
  return { ...names, ...convertNone, ...one, zero, isZero: (value) => !optional && isZeroScalar(value) };
}

/** Numbers of JSON are exact up to 53 bits only. */
const is64Bit = ({ scalar }: DescField) => scalar !== undefined && typeof scalarZeroValue(scalar, false) === 'bigint';

const convertNone = { toJson: undefined, toMessage: undefined, fromMessage: undefined, toFields: undefined };

/** Structs are plain objects in generated code already. */
function converters(message: DescMessage | undefined) {
  if (message === undefined || message.typeName === 'google.protobuf.Struct') return undefined;
  if (message.typeName === 'google.protobuf.Timestamp') return time;
  return {
    toJson: (value: unknown) => toJson(message, value),
    toMessage: (value: unknown) => toMessage(message, value),
    fromMessage: (value: Message) => fromMessage(message, value),
    toFields: (value: Message) => requestFields(message, value),
  };
}

const time = {
  toJson: (date: Date) => date.toISOString(),
  toMessage: (date: Date) => timestampFromDate(date),
  fromMessage: (timestamp: Timestamp) => timestampDate(timestamp),
  toFields: (timestamp: Timestamp) => timestampDate(timestamp),
};

const isZeroScalar = (value: unknown) =>
  value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);
