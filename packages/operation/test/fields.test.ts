import type { AppError } from '@acsp/errors';
import { z } from 'zod';
import {
  aid,
  jsonObject,
  metadata,
  name,
  parseFields,
  queryInteger,
  text,
  textList,
  time,
  uuid,
} from '../src/index.js';

/** The value of a field, or the code and the words that refuse it. */
function read(schema: z.ZodType, value: unknown): unknown {
  try {
    return parseFields(z.object({ field: schema }), value === undefined ? {} : { field: value }).field;
  } catch (error) {
    const { code, fields } = error as AppError;
    return `${code}: ${fields[0]?.message}`;
  }
}

describe('a text', () => {
  const title = text({ code: 'INVALID_CONTENT', missing: 'MISSING_TITLE', max: 5 });

  test('is kept to the letter', () => {
    for (const value of ['a', ' a ', 'a\nb', 'a\u202eb', '<b>x', '&amp;']) expect(read(title, value)).toBe(value);
  });

  test('counts code points', () => {
    expect(read(title, '😀😀😀😀😀')).toBe('😀😀😀😀😀');
    expect(read(title, '😀😀😀😀😀😀')).toBe('INVALID_CONTENT: at most 5 characters');
  });

  test('without a visible character is empty', () => {
    for (const value of ['', ' ', '\n\t', '\u200b', '\u2800', '\u3164', '\u00ad']) {
      expect(read(title, value)).toBe('INVALID_CONTENT: must not be empty');
    }
  });

  test('with NUL or half a surrogate pair is refused, and so is another type', () => {
    expect(read(title, 'a\0')).toBe('INVALID_CONTENT: must not contain NUL');
    expect(read(title, 'a\ud800')).toBe('INVALID_CONTENT: must not contain unpaired surrogates');
    expect(read(title, 7)).toBe('INVALID_CONTENT: must be a string');
  });

  test('that is absent has a code of its own', () => {
    expect(read(title, undefined)).toBe('MISSING_TITLE: required');
    expect(read(title, null)).toBe('MISSING_TITLE: required');
    expect(read(text({ code: 'INVALID_CONTENT', max: 5 }), undefined)).toBe('INVALID_CONTENT: required');
  });

  test('loses its markup where the interface says so, and may be empty then', () => {
    const clean = text({ code: 'INVALID_CONTENT', max: 40, clean: true });
    expect(read(clean, 'a <b>bold</b> move')).toBe('a bold move');
    expect(read(clean, '<b></b>')).toBe('INVALID_CONTENT: must not be empty');
  });
});

describe('a name', () => {
  const agentName = name({ code: 'INVALID_NAME', max: 100 });

  test.each(['a\nb', 'a\r', 'a\u2028b', 'a\u0085b'])('has no line break: %j', (value) => {
    expect(read(agentName, value)).toBe('INVALID_NAME: must not contain line breaks');
  });

  test.each(['a\u202eb', 'a\u202ab', 'a\u2066b', 'a\u2069b'])('has no bidirectional override: %j', (value) => {
    expect(read(agentName, value)).toBe('INVALID_NAME: must not contain bidirectional overrides');
  });

  test('has no control character, and something to see', () => {
    expect(read(agentName, 'a\u0007')).toBe('INVALID_NAME: must not contain control characters');
    expect(read(agentName, '\u200b')).toBe('INVALID_NAME: must not be empty');
    expect(read(agentName, undefined)).toBe('INVALID_NAME: required');
  });

  test('may be written in any script', () => {
    for (const value of ['Zoë', 'שלום', '日本', "O'Neil & <co>"]) expect(read(agentName, value)).toBe(value);
  });
});

describe('a time', () => {
  const deadline = time({ code: 'INVALID_DEADLINE', missing: 'MISSING_FIELDS' });

  test('is a date, from JSON and from gRPC', () => {
    const date = new Date('2026-01-02T03:04:05.678Z');
    expect(read(deadline, '2026-01-02T04:04:05.678+01:00')).toEqual(date);
    expect(read(deadline, date)).toEqual(date);
  });

  test.each(['tomorrow', '2026-02-30T00:00:00Z', '2026-13-01', '', 5])('must be ISO 8601: %j', (value) => {
    expect(read(deadline, value)).toMatch(/^INVALID_DEADLINE: must be/);
  });

  test('that is absent has a code of its own', () => {
    expect(read(deadline, undefined)).toBe('MISSING_FIELDS: required');
  });

  test('that gRPC cannot express as a date is refused and no fault', () => {
    expect(read(deadline, new Date(Number.NaN))).toMatch(/^INVALID_DEADLINE/);
  });
});

test('an AID has 50 lowercase hex characters', () => {
  expect(read(aid(), 'a0'.repeat(25))).toBe('a0'.repeat(25));
  for (const value of ['A0'.repeat(25), 'a0'.repeat(24), `${'a0'.repeat(25)}\n`, 7])
    expect(read(aid(), value)).toMatch(/^INVALID_AID/);
});

test('a UUID comes out in lower case, whatever its version', () => {
  expect(read(uuid('INVALID_TASK_ID'), '0190A1B2-0000-7000-8000-00000000000F')).toBe(
    '0190a1b2-0000-7000-8000-00000000000f',
  );
  expect(read(uuid('INVALID_TASK_ID', 'MISSING_FIELDS'), undefined)).toMatch(/^MISSING_FIELDS/);
  for (const value of ['', '0190a1b2', '{0190a1b2-0000-7000-8000-00000000000f}']) {
    expect(read(uuid('INVALID_TASK_ID'), value)).toMatch(/^INVALID_TASK_ID/);
  }
});

test('a list has its own code for every fault: number, type and length of its items', () => {
  const tags = textList({ code: 'INVALID_TAGS', min: 1, max: 2, maxLength: 3 });
  expect(read(tags, ['a', 'b'])).toEqual(['a', 'b']);
  for (const value of [[], ['a', 'b', 'c'], ['long'], [' '], [1], 'a', { 0: 'a' }])
    expect(read(tags, value)).toMatch(/^INVALID_TAGS/);
});

test('a JSON object is bounded in bytes and depth', () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  expect(read(metadata(), { a: [1] })).toEqual({ a: [1] });
  expect(read(metadata(), nested(15))).toEqual(nested(15));
  for (const value of [nested(17), { a: 'x'.repeat(4_096) }, [], 'x', 7])
    expect(read(metadata(), value)).toMatch(/^INVALID_METADATA/);
  expect(read(jsonObject({ code: 'INVALID_RESULT', maxBytes: 10 }), { a: '12345' })).toMatch(/^INVALID_RESULT/);
});

test('an integer of a query is written in digits', () => {
  const limit = queryInteger(1, 100);
  expect(read(limit, '20')).toBe(20);
  for (const value of ['0', '101', '1e1', ' 5', '0x10', '5.0', ''])
    expect(read(limit, value)).toMatch(/^INVALID_FIELD/);
});
