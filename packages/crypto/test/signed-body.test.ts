import { AppError } from '@acsp/errors';
import fc from 'fast-check';
import { generateKeyPair, sign, signedBody, verify } from '../src/index.js';
import { compact, indented, python, pythonUtf8, type Write } from './serialisers.js';

type Entry = [name: string, value: unknown];

const writers: Record<string, Write> = { compact, indented, python, pythonUtf8 };
const { publicKey, privateKey } = generateKeyPair();

// Names that look like the member, in any place but the top, and the text of JSON inside of strings.
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('signature', '"signature":"x"', '\\', '{', ',"', '\u0000'),
);
const value = fc.jsonValue({ stringUnit: 'grapheme' });
const nested = fc.oneof(value, text, fc.record({ signature: value, more: fc.array(value) }));
const entries = fc.uniqueArray(fc.tuple(text, nested), { selector: ([name]) => name, maxLength: 8 });
const unsigned = entries.map((list) => list.filter(([name]) => name !== 'signature'));

const write = (writer: Write, list: Entry[]) => Buffer.from(writer(list));

describe.each(Object.entries(writers))('a body written by %s', (_, writer) => {
  test('verifies when it was signed without the signature and the signature was appended', () => {
    fc.assert(
      fc.property(
        unsigned.filter((list) => list.length > 0),
        (list) => {
          const signed = write(writer, list);
          const signature = sign(privateKey, signed);
          const found = signedBody(write(writer, [...list, ['signature', signature]]));
          expect(found.bytes.equals(signed)).toBe(true);
          expect(verify(publicKey, found.bytes, found.signature ?? '')).toBe(true);
        },
      ),
    );
  });

  test('gives the same bytes wherever the signature stands', () => {
    fc.assert(
      fc.property(
        unsigned.filter((list) => list.length > 0),
        fc.nat(),
        (list, at) => {
          const place = at % (list.length + 1);
          const found = signedBody(write(writer, [...list.slice(0, place), ['signature', 'AB'], ...list.slice(place)]));
          expect(found.signature).toBe('ab');
          expect(found.bytes.toString()).toBe(writer(list));
        },
      ),
    );
  });
});

test('a body without the member is signed as it is', () => {
  fc.assert(
    fc.property(unsigned, (list) => {
      const raw = write(compact, list);
      expect(signedBody(raw)).toEqual({ signature: undefined, bytes: raw });
    }),
  );
});

test('whatever the bytes, nothing but INVALID_JSON is thrown', () => {
  const pieces = fc.constantFrom(...'{}[]",:\\ \n', '"signature"', '"\\u0073ignature"', '"\\q"', '{"a":1', 'null', '1');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(pieces).map((list) => Buffer.from(list.join(''))),
        fc.uint8Array().map(Buffer.from),
      ),
      (raw) => {
        try {
          signedBody(raw);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          expect(error).toMatchObject({ code: 'INVALID_JSON' });
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('takes time in proportion to the body, whatever is in it', () => {
  for (const filler of ['\\\\', '\\"', 'a', '[{', ' ', '{"signature":']) {
    const value = filler.startsWith('\\') || filler === 'a' ? `"${filler.repeat(100_000)}"` : filler.repeat(100_000);
    const started = performance.now();
    expect(() => signedBody(Buffer.from(`{"a":${value},"signature":"x"}`))).not.toThrow(RangeError);
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});
