import fc from 'fast-check';
import { codePointLength, jsonFault, textFault } from './json-limits.js';

const limits = { maxBytes: 4096, maxDepth: 16 };
const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);

test('a plain object within the limits has no fault', () => {
  expect(jsonFault({}, limits)).toBeUndefined();
  expect(jsonFault({ a: [1, -0.5, null, true, 'ü😀', { b: [] }] }, limits)).toBeUndefined();
  expect(jsonFault(Object.assign(Object.create(null), { a: 1 }), limits)).toBeUndefined();
});

test.each([null, undefined, 'text', 5, [], [{}], new Date(), new Map(), () => {}])('%p is not an object', (value) => {
  expect(jsonFault(value, limits)).toBe('must be a JSON object');
});

test('level 16 passes and level 17 is refused, through objects and lists alike', () => {
  expect(jsonFault(nested(16), limits)).toBeUndefined();
  expect(jsonFault(nested(17), limits)).toBe('must be at most 16 levels deep');
  expect(jsonFault({ a: JSON.parse(`${'['.repeat(15)}${']'.repeat(15)}`) }, limits)).toBeUndefined();
  expect(jsonFault({ a: JSON.parse(`${'['.repeat(16)}${']'.repeat(16)}`) }, limits)).toBe(
    'must be at most 16 levels deep',
  );
});

test('ten thousand levels and circles are refused without harm', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  let deep: object = {};
  for (let level = 0; level < 10_000; level++) deep = { deep };
  expect(jsonFault(deep, limits)).toBe('must be at most 16 levels deep');
  expect(jsonFault(circle, limits)).toBe('must be at most 16 levels deep');
});

test('bytes are those of compact JSON in UTF-8', () => {
  expect(jsonFault({ a: 'x'.repeat(4088) }, limits)).toBeUndefined();
  expect(jsonFault({ a: 'x'.repeat(4089) }, limits)).toBe('must be at most 4096 bytes as JSON');
  expect(jsonFault({ a: '😀'.repeat(1022) }, limits)).toBeUndefined();
  expect(jsonFault({ a: '😀'.repeat(1023) }, limits)).toBe('must be at most 4096 bytes as JSON');
  expect(jsonFault({ a: Array(50_000).fill(0) }, limits)).toBe('must be at most 4096 bytes as JSON');
});

test('NUL and unpaired surrogates are refused in values and in keys', () => {
  for (const value of [{ a: ['\0'] }, { a: { '\0': 1 } }]) {
    expect(jsonFault(value, limits)).toBe('must not contain NUL characters');
  }
  for (const value of [{ a: ['\ud800'] }, { a: { '\udc00x': 1 } }]) {
    expect(jsonFault(value, limits)).toBe('must not contain unpaired surrogates');
  }
});

test('what would not come back as it was is refused', () => {
  expect(jsonFault(JSON.parse('{"a":{"__proto__":{"admin":true}}}'), limits)).toBe('must not have a member __proto__');
  expect(jsonFault(JSON.parse('{"a":1e400}'), limits)).toBe('must not have numbers beyond 1.8e308');
  for (const value of [undefined, 1n, new Date(), Symbol('x')]) {
    expect(jsonFault({ a: value }, limits)).toBe('must be plain JSON');
  }
});

test('any JSON object is judged by its size and depth alone', () => {
  const object = fc.dictionary(
    fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__' && !key.includes('\0')),
    fc.jsonValue({ noUnicodeString: false }),
  );
  fc.assert(
    fc.property(object, fc.integer({ min: 2, max: 200 }), (value, maxBytes) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('\\u0000') && !text.includes('__proto__') && !text.includes('\\ud'));
      const fits = Buffer.byteLength(text) <= maxBytes;
      expect(jsonFault(JSON.parse(text), { maxBytes, maxDepth: 100 }) === undefined).toBe(fits);
    }),
  );
});

test('the fault of a text is named', () => {
  expect(textFault('text 😀')).toBeUndefined();
  expect(textFault('a\0b')).toBe('nul');
  expect(textFault('a\ud83d')).toBe('surrogate');
  expect(textFault('\ude00\ud83d')).toBe('surrogate');
});

test('length counts code points as an iterator does', () => {
  expect(codePointLength('aé😀')).toBe(3);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(codePointLength(text)).toBe([...text].length);
    }),
  );
  expect(codePointLength('\ud83d😀\ude00')).toBe(3);
});
