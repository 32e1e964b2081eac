import { memoryKeys } from './memory-keys.js';

test('drops the least recently used key when there are too many', () => {
  const keys = memoryKeys({ maxKeys: 2 });
  keys.set('a', '1', 10);
  keys.set('b', '2', 10);
  keys.get('a');
  keys.set('c', '3', 10);
  expect(['a', 'b', 'c'].map((key) => keys.get(key))).toEqual(['1', undefined, '3']);
});

test('drops keys when they are too long together', () => {
  const keys = memoryKeys({ maxLength: 250 });
  for (const key of ['a', 'b', 'c']) keys.set(key, 'x'.repeat(100), 10);
  expect(keys.size).toBe(2);
  expect(keys.get('a')).toBeUndefined();
});

test('hands over each key once, with the time it has left', () => {
  const keys = memoryKeys();
  for (let n = 0; n < 5; n++) keys.set(`k${n}`, String(n), 10);
  const drained = [...keys.drain(3), ...keys.drain(3), ...keys.drain(3)];
  expect(drained.map(({ key }) => key).sort()).toEqual(['k0', 'k1', 'k2', 'k3', 'k4']);
  expect(drained.every(({ ttlMs }) => ttlMs > 9_000 && ttlMs <= 10_000)).toBe(true);
  expect(keys.size).toBe(0);
});
