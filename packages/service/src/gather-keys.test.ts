import { gatherKeys } from './gather-keys.js';

/** Look-ups that end when the test says so, on a clock that stands still. */
function world() {
  const lookUps: { readonly keys: readonly string[]; readonly end: () => void }[] = [];
  const time = { ms: 0 };
  const gather = gatherKeys<string>(
    2,
    (keys) =>
      new Promise((resolve) =>
        lookUps.push({ keys, end: () => resolve(new Map(keys.map((key) => [key, `of ${key}`]))) }),
      ),
    () => time.ms,
  );
  return { lookUps, time, gather };
}
const settled = () => new Promise(setImmediate);

test('keys that come during a look-up share the next one, up to its limit', async () => {
  const { lookUps, gather } = world();
  const first = gather(['a']);
  await settled();
  const others = [gather(['b']), gather(['c']), gather(['d'])];
  for (let n = 0; n < 3; n += 1) {
    lookUps[n]?.end();
    await settled();
  }
  expect(lookUps.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c'], ['d']]);
  expect((await first).get('a')).toBe('of a');
  expect((await others[1])?.get('c')).toBe('of c');
});

test('keys that have waited for longer than 5 s are refused and not looked up, and those after them are', async () => {
  const { lookUps, time, gather } = world();
  const slow = gather(['a']);
  await settled();
  const late = Promise.allSettled([gather(['b', 'c']), gather(['d'])]);
  time.ms = 5_001;
  const next = gather(['e']);
  lookUps[0]?.end();
  expect((await slow).get('a')).toBe('of a');
  const refused = { status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } };
  expect(await late).toMatchObject([refused, refused]);
  await expect(next).rejects.toMatchObject(refused.reason);
  const after = gather(['f']);
  await settled();
  lookUps[1]?.end();
  expect((await after).get('f')).toBe('of f');
  expect(lookUps.map(({ keys }) => keys)).toEqual([['a'], ['f']]);
});
