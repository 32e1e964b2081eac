import { median, percentile } from './latency.js';

test('percentiles are values that occurred', () => {
  const values = [5, 1, 4, 2, 3];
  expect(percentile(values, 0.5)).toBe(3);
  expect(percentile(values, 0.99)).toBe(5);
});

test('the median of an even number of values lies between the middle two', () => {
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([9, 1, 5])).toBe(5);
});
