import { isReservedName } from './is-reserved-name.js';

test.each([
  ...['acsp', 'ACSP', 'aCsP', ' acsp ', 'a c s p', 'ac\u200bsp', '\u2060acsp', 'acsp\u3164', 'a\u00adcsp'],
  ...['\uff21\uff23\uff33\uff30', '\u{1d41a}\u{1d41c}\u{1d42c}\u{1d429}', '\u0430\u0441\u0455\u0440', '\u0410csp'],
  ...['A\u03f9SP', 'a\u03f2sp', '\u1d00\u1d04\ua731\u1d18', '\u13aa\u13df\u13da\u13e2', '\ua4ee\ua4da\ua4e2\ua4d1'],
  ...['a\u0441\u0455\u2ca3', '\u237acsp'],
])('%j is the name of the service', (name) => {
  expect(isReservedName(name)).toBe(true);
});

test.each(['acsp2', 'acs', 'my acsp', 'a-c-s-p', 'ácsp', 'acsps', ''])('%j is not', (name) => {
  expect(isReservedName(name)).toBe(false);
});
