import { formatUptime } from './format-uptime.js';

test.each([
  [0.4, '0s'],
  [59.9, '59s'],
  [60, '1m'],
  [3_600, '1h'],
  [3 * 86_400 + 4 * 3_600 + 12 * 60 + 5, '3d 4h 12m'],
  [86_400 + 60, '1d 1m'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatUptime(seconds)).toBe(text);
});
