import { isBlank } from './is-blank.js';

test.each([
  ['nothing', ''],
  ['white space', ' \t\r\n\v\f\u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000'],
  ['controls', '\u0001\u001b\u007f\u009f'],
  ['format characters', '\u00ad\u061c\u200b\u200d\u200e\u202e\u2060\u2066\ufeff\u{e0041}'],
  ['default-ignorable characters', '\u034f\u115f\u1160\u17b4\u180b\ufe0f\uffa0\u{e0100}'],
  ['the Hangul filler and braille without dots', '\u3164\u2800'],
])('a text of %s is blank', (_, text) => {
  expect(isBlank(text)).toBe(true);
});

test.each(['a', ' . ', '\u200b0\u200b', '😀', '❤\ufe0f', '\u2801', '\u0301', '\ue000', '\u{e0041}한'])(
  '%j is not blank',
  (text) => {
    expect(isBlank(text)).toBe(false);
  },
);
