import { isReservedName } from './is-reserved-name.js';

test.each([
  ...['acsp', 'ACSP', 'aCsP', ' acsp ', 'a c s p', 'ac\u200bsp', '\u2060acsp', 'acsp\u3164', 'a\u00adcsp'],
  ...['\uff21\uff23\uff33\uff30', '\u{1d41a}\u{1d41c}\u{1d42c}\u{1d429}', '\u0430\u0441\u0455\u0440', '\u0410csp'],
])('%j is the name of the service', (name) => {
  expect(isReservedName(name)).toBe(true);
});

test.each(['acsp2', 'acs', 'my acsp', 'a-c-s-p', 'ácsp', 'acsps', ''])('%j is not', (name) => {
  expect(isReservedName(name)).toBe(false);
});
