import type { DescMessage, Message, MessageShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';

type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : S;
type Names<M> = Exclude<keyof M, '$typeName' | '$unknown'> & string;
type OptionalNames<M> = { [K in Names<M>]: undefined extends M[K] ? K : never }[Names<M>];
type Value<V> = V extends Timestamp
  ? Date
  : V extends Message
    ? Public<V>
    : V extends Uint8Array
      ? Uint8Array
      : V extends readonly (infer Item)[]
        ? readonly Value<Item>[]
        : V;

/** A message under its proto names, as handlers take and return it and rows have it: times are dates, what is not set is null. */
export type Public<M> = {
  readonly [K in Exclude<Names<M>, OptionalNames<M>> as Snake<K>]: Value<M[K]>;
} & { readonly [K in OptionalNames<M> as Snake<K>]: Value<NonNullable<M[K]>> | null };

/** The same for a schema: `PublicOf<typeof TaskSchema>`. */
export type PublicOf<Desc extends DescMessage> = Public<MessageShape<Desc>>;

type Absent<V> = null extends V ? true : V extends readonly unknown[] ? true : false;

/** A message as a client writes it: optional fields and empty lists may be left out. */
export type Draft<M> = {
  readonly [K in keyof Public<M> as Absent<Public<M>[K]> extends true ? never : K]: Public<M>[K];
} & {
  readonly [K in keyof Public<M> as Absent<Public<M>[K]> extends true ? K : never]?: Public<M>[K] | undefined;
};

/** A field's schema gives its own type, and nothing where the contract lets it be absent. */
type Output<V> = Absent<V> extends true ? V | null | undefined : V;

/**
 * The input of an operation, held to its contract: exactly the fields of the request, and the caller's own `aid`. A field that is missing, misspelt or
 * of another type does not compile (test/public.types.ts).
 */
export const fieldsOf =
  <Desc extends DescMessage>(_request: Desc) =>
  <Shape extends { readonly [K in keyof PublicOf<Desc>]: z.ZodType<Output<PublicOf<Desc>[K]>> }>(
    shape: Shape & Readonly<Record<Exclude<keyof Shape, keyof PublicOf<Desc> | 'aid'>, never>>,
  ) =>
    z.object(shape as Shape);
