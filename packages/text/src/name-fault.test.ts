import { nameFault } from './name-fault.js';

test.each(['agent-7', 'Zoë 東京 😀', 'עברית', 'عربي', "<b> & 'x'", 'a\u200db'])('%j is a fine name', (name) => {
  expect(nameFault(name)).toBeUndefined();
});

test.each([...'\n\r\v\f\u0085\u2028\u2029'])('the line break %j is refused', (char) => {
  expect(nameFault(`a${char}b`)).toBe('must not contain line breaks');
});

test.each([...'\0\u0001\t\u001b\u007f\u0080\u009f'])('the control character %j is refused', (char) => {
  expect(nameFault(`a${char}b`)).toBe('must not contain control characters');
});

test.each([...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'])('the override %j is refused', (char) => {
  expect(nameFault(`a${char}`)).toBe('must not contain bidirectional overrides');
});
