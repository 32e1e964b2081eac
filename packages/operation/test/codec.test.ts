import { type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { fromMessage, requestFields, toJson, toMessage } from '../src/index.js';
import { sampleMessage } from './sample.js';

const Sample = sampleMessage('Sample');

const empty = {
  ...{ text: '', maybe_text: null, count: 0, maybe_count: null, flag: false, ratio: 0, body: new Uint8Array() },
  ...{ tag_list: [], created_at: null, seen_at: [], main_part: null, parts: [], metadata: null },
};

const full = {
  ...{ text: 'a', maybe_text: '', count: -1, maybe_count: 0, flag: true, ratio: 0.5, body: new Uint8Array([1, 2]) },
  ...{ tag_list: ['x', ''], created_at: new Date('2026-01-02T03:04:05.678Z'), seen_at: [new Date(0)] },
  main_part: { part_name: 'p', size: null, made_at: new Date(1) },
  parts: [{ part_name: '', size: 0, made_at: null }],
  metadata: { a: [1, null, { b: true }], text: 'x' },
};

/** Over the wire and back. */
const travelled = (schema: DescMessage, message: Message) => fromBinary(schema, toBinary(schema, message));

test('a message has the names of the contract, dates for times, and null for what is not set', () => {
  expect(fromMessage(Sample, travelled(Sample, toMessage(Sample, {})))).toEqual(empty);
  expect(fromMessage(Sample, travelled(Sample, toMessage(Sample, full)))).toEqual(full);
});

test('what is null or undefined is not set', () => {
  expect(toMessage(Sample, { maybe_text: null, count: undefined, parts: null, created_at: null })).toEqual(
    toMessage(Sample, {}),
  );
});

test('an answer as JSON has every field of the contract and nothing else, times in ISO 8601 with milliseconds', () => {
  expect(toJson(Sample, { ...full, internal: 1 })).toEqual({
    ...full,
    created_at: '2026-01-02T03:04:05.678Z',
    seen_at: ['1970-01-01T00:00:00.000Z'],
    main_part: { part_name: 'p', size: null, made_at: '1970-01-01T00:00:00.001Z' },
  });
  expect(toJson(Sample, {})).toEqual(empty);
  expect(Object.keys(toJson(Sample, {}))).toEqual(Sample.fields.map(({ name }) => name));
});

test('lists that are not set are lists of their own', () => {
  const [one, other] = [toJson(Sample, {}), toJson(Sample, {})];
  expect(one.tag_list).not.toBe(other.tag_list);
});

test('of a request what is not set, empty or zero is absent, and what is set on purpose is not', () => {
  expect(requestFields(Sample, toMessage(Sample, {}))).toEqual({});
  expect(requestFields(Sample, toMessage(Sample, full))).toEqual({
    ...full,
    main_part: { part_name: 'p', made_at: new Date(1) },
    parts: [{ size: 0 }],
  });
});

test.each(['Long', 'Choice'])('a message without a public form is refused: %s', (name) => {
  expect(() => toJson(sampleMessage(name), {})).toThrow('has no public form');
});

const text = fc.string({ unit: 'grapheme' });
const integer = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const date = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const part = fc.record({ part_name: text, size: maybe(integer), made_at: maybe(date) });
const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value')),
    tie('object'),
  ),
  object: fc.dictionary(
    text.filter((key) => key !== '__proto__'),
    tie('value'),
    { noNullPrototype: true },
  ),
}));
const sample = fc.record({
  ...{ text, maybe_text: maybe(text), count: integer, maybe_count: maybe(integer), flag: fc.boolean(), ratio: number },
  ...{ body: fc.uint8Array(), tag_list: fc.array(text), created_at: maybe(date), seen_at: fc.array(date) },
  ...{ main_part: maybe(part), parts: fc.array(part), metadata: maybe(json.object) },
});

test('every message comes back from the wire as it was', () => {
  fc.assert(
    fc.property(sample, (value) => {
      expect(fromMessage(Sample, travelled(Sample, toMessage(Sample, value)))).toEqual(value);
    }),
  );
});

test('a request over gRPC and the same one as JSON say the same', () => {
  fc.assert(
    fc.property(sample, (value) => {
      const fields = requestFields(Sample, travelled(Sample, toMessage(Sample, value)));
      expect(fromMessage(Sample, toMessage(Sample, fields))).toEqual(value);
    }),
  );
});
