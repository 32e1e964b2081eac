import { describeCapabilities } from './describe-capabilities.js';

test('names every capability', () => {
  expect(describeCapabilities(['search'])).toBe('An agent that offers search.');
  expect(describeCapabilities(['search', 'summary'])).toBe('An agent that offers search and summary.');
  expect(describeCapabilities(['a', 'b', 'c'])).toBe('An agent that offers a, b and c.');
});

test('counts those that do not fit into a description', () => {
  const many = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(100, 'x'));
  const sentence = describeCapabilities(many);
  expect(sentence).toMatch(/ and 46 more\.$/);
  expect(sentence.length).toBeLessThanOrEqual(500);
});
