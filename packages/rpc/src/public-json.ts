import { type DescField, type DescMessage, type MessageInitShape, ScalarType } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';

type Json = Record<string, unknown>;
type Convert = (value: never) => unknown;
interface Member {
  readonly name: string;
  readonly local: string;
  readonly absent: () => unknown;
  readonly convert: Convert | undefined;
}

const compiled = new WeakMap<DescMessage, readonly Member[]>();

/**
 * A message as public JSON: proto field names, timestamps as ISO 8601 in milliseconds, objects as they are, and null for what is not set.
 * Works from what a handler returned, without making a message of it first.
 */
export function toPublicJson<Desc extends DescMessage>(schema: Desc, message: MessageInitShape<Desc>): Json {
  let members = compiled.get(schema);
  if (members === undefined) {
    members = schema.fields.map(toMember);
    compiled.set(schema, members);
  }
  const json: Json = {};
  for (const { name, local, absent, convert } of members) {
    const value = (message as Json)[local];
    if (value === undefined || value === null) json[name] = absent();
    else json[name] = convert === undefined ? value : convert(value as never);
  }
  return json;
}

function toMember(field: DescField): Member {
  const convert = converter(field);
  if (field.fieldKind === 'list') {
    const items: Convert | undefined = convert && ((values: never[]) => values.map(convert));
    return { name: field.name, local: field.localName, absent: () => [], convert: items };
  }
  if (field.fieldKind === 'map' || field.oneof !== undefined || field.fieldKind === 'enum') {
    throw new Error(`${field} has no public JSON form`);
  }
  const optional = field.fieldKind === 'message' || field.presence === 1;
  const zero = optional ? null : zeroOf(field.scalar);
  return { name: field.name, local: field.localName, absent: () => zero, convert };
}

function converter(field: DescField): Convert | undefined {
  const { message } = field;
  if (message === undefined) return undefined;
  if (message.typeName === 'google.protobuf.Struct') return undefined;
  if (message.typeName === 'google.protobuf.Timestamp') return isoTime;
  return (value: Json) => toPublicJson(message, value);
}

const isoTime = ({ seconds, nanos }: Timestamp) =>
  new Date(Number(seconds) * 1000 + Math.trunc(nanos / 1e6)).toISOString();

function zeroOf(scalar: ScalarType | undefined): unknown {
  if (scalar === ScalarType.STRING) return '';
  return scalar === ScalarType.BOOL ? false : 0;
}
