import { eventually } from '@acsp/testkit';
import { memoryKeys } from './memory-keys.js';

const full = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

test('refuses a key that is too many, and keeps those it has', () => {
  const keys = memoryKeys({ maxKeys: 2 });
  keys.set('a', '1', 10);
  keys.set('b', '2', 10);
  expect(() => keys.add('c', '3', 10)).toThrow(full);
  expect(keys.add('a', '4', 10)).toBe(false);
  keys.set('b', '5', 10);
  expect(['a', 'b', 'c'].map((key) => keys.get(key))).toEqual(['1', '5', undefined]);
  keys.delete('a');
  expect(keys.add('c', '3', 10)).toBe(true);
});

test('refuses a value that is too long beside the others, and keeps what was there', () => {
  const keys = memoryKeys({ maxLength: 250 });
  keys.set('a', 'x'.repeat(100), 10);
  keys.set('b', 'x'.repeat(100), 10);
  expect(() => keys.set('c', 'x'.repeat(100), 10)).toThrow(full);
  expect(() => keys.set('b', 'x'.repeat(150), 10)).toThrow(full);
  expect(keys.get('b')).toHaveLength(100);
  keys.set('b', 'x'.repeat(148), 10);
  keys.clear();
  keys.set('c', 'x'.repeat(249), 10);
});

test('makes room by what has expired', async () => {
  const keys = memoryKeys({ maxKeys: 2 });
  keys.set('short', '1', 0.02);
  keys.set('long', '2', 10);
  expect(await eventually(() => keys.add('c', '3', 10))).toBe(true);
  expect(['short', 'long', 'c'].map((key) => keys.get(key))).toEqual([undefined, '2', '3']);
});

test('removes the entry that was moved, and not the one written since', () => {
  const keys = memoryKeys();
  for (const key of ['a', 'b', 'c']) keys.set(key, 'old', 10);
  const moved = keys.oldest(2);
  keys.set('b', 'new', 10);
  keys.remove(moved);
  expect(moved.map(({ key }) => key)).toEqual(['a', 'b']);
  expect(['a', 'b', 'c'].map((key) => keys.get(key))).toEqual([undefined, 'new', 'old']);
});
