import { createLookups } from './lookups.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Begins look-ups and notes the order in which they may start. */
function setUp(state: { room: number }) {
  const lookups = createLookups();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = async (name: string, place = 'address') => {
    ends.set(name, await lookups.begin(place, () => state.room));
    started.push(name);
  };
  return { started, begin, end: (name: string) => ends.get(name)?.() };
}

test('no more are in flight than there is room for, and the others follow in order', async () => {
  const { started, begin, end } = setUp({ room: 2 });
  for (const name of ['a', 'b', 'c', 'd']) void begin(name);
  await settle();
  expect(started).toEqual(['a', 'b']);
  end('b');
  await settle();
  expect(started).toEqual(['a', 'b', 'c']);
  end('a');
  end('c');
  await settle();
  expect(started).toEqual(['a', 'b', 'c', 'd']);
});

test('less room lets fewer begin, and one always', async () => {
  const state = { room: 3 };
  const { started, begin, end } = setUp(state);
  for (const name of ['a', 'b', 'c', 'd', 'e']) void begin(name);
  await settle();
  state.room = 0;
  end('a');
  end('b');
  await settle();
  expect(started).toEqual(['a', 'b', 'c']);
  end('c');
  await settle();
  expect(started).toEqual(['a', 'b', 'c', 'd']);
  end('d');
  await settle();
  expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('one place does not wait for another', async () => {
  const { started, begin } = setUp({ room: 1 });
  void begin('a');
  void begin('b', 'elsewhere');
  await settle();
  expect(started).toEqual(['a', 'b']);
});

test('one that waits too long is refused, and does not take a place later', async () => {
  const lookups = createLookups(1);
  const end = await lookups.begin('address', () => 1);
  await expect(lookups.begin('address', () => 1)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  end();
  expect(await lookups.begin('address', () => 1)).toBeInstanceOf(Function);
});

test('a thousand wait at one place, and one more is refused at once', async () => {
  const { started, begin, end } = setUp({ room: 1 });
  for (let n = 0; n <= 1_000; n += 1) void begin(`${n}`);
  await expect(begin('more')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  for (let n = 0; n <= 1_000; n += 1) {
    end(`${n}`);
    await settle();
  }
  expect(started).toHaveLength(1_001);
});
