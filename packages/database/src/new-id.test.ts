import { newId } from './new-id.js';

test('ids are unique, of version 7, and sort in the order in which they were made', () => {
  const made = Array.from({ length: 20_000 }, newId);
  expect(new Set(made).size).toBe(made.length);
  expect([...made].sort()).toEqual(made);
  expect(
    made.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toEqual([]);
});

test('an id carries the time at which it was made', () => {
  const before = Date.now();
  const time = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16);
  expect(time).toBeGreaterThanOrEqual(before - 1_000);
  expect(time).toBeLessThanOrEqual(Date.now());
});
