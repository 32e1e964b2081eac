import { createCoalesce } from './coalesce.js';

/** A run that ends when it is told to. */
function runs() {
  const ends: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const run = () => new Promise<number>((resolve, reject) => ends.push({ resolve, reject }));
  return { ends, run };
}
const settled = () => new Promise(setImmediate);

test('all who come while a run is in flight share the next one, and none of them the one that had begun before', async () => {
  const coalesce = createCoalesce<number>();
  const { ends, run } = runs();
  const first = coalesce('key', run);
  const later = [coalesce('key', run), coalesce('key', run)];
  expect(ends).toHaveLength(1);
  ends[0]?.resolve(1);
  expect(await first).toBe(1);
  await settled();
  expect(ends).toHaveLength(2);
  const last = coalesce('key', run);
  ends[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2]);
  await settled();
  ends[2]?.resolve(3);
  expect(await last).toBe(3);
});

test('runs of different keys are not held up by each other', async () => {
  const coalesce = createCoalesce<number>();
  const { ends, run } = runs();
  const both = [coalesce('a', run), coalesce('b', run)];
  ends[1]?.resolve(2);
  expect(await both[1]).toBe(2);
  ends[0]?.resolve(1);
  expect(await both[0]).toBe(1);
});

test('a run that fails fails for those alone who shared it', async () => {
  const coalesce = createCoalesce<number>();
  const { ends, run } = runs();
  const [first, second] = [coalesce('key', run), coalesce('key', run)];
  ends[0]?.reject(new Error('no'));
  await expect(first).rejects.toThrow('no');
  await settled();
  ends[1]?.resolve(2);
  expect(await second).toBe(2);
});
