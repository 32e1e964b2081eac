import { fromText, toText } from './postgres-text.js';

test.each(['', 'plain', '\0', '\\', '\\0', '\\\0', '\\\\0\0\\', 'a\0b\\c\n🚀'])(
  'comes back to the letter: %j',
  (value) => {
    expect(toText(value)).not.toContain('\0');
    expect(fromText(toText(value))).toBe(value);
  },
);

test('half a surrogate pair becomes a replacement character, as in Redis', () => {
  expect(toText('a\ud800b')).toBe('a\ufffdb');
});
