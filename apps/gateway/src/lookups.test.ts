import { createLookups } from './lookups.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Begins look-ups and notes the order in which they may start. */
function setUp(state: { room: number }) {
  const lookups = createLookups();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = async (name: string, place = 'address') => {
    const end = lookups.begin(place, () => state.room);
    ends.set(name, end instanceof Promise ? await end : end);
    started.push(name);
  };
  return { started, begin, end: (name: string) => ends.get(name)?.() };
}

test('no more are in flight than there is room for, and the others follow in order', async () => {
  const { started, begin, end } = setUp({ room: 2 });
  for (const name of ['a', 'b', 'c', 'd']) void begin(name);
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

test('one place does not wait for another', () => {
  const { started, begin } = setUp({ room: 1 });
  void begin('a');
  void begin('b', 'elsewhere');
  expect(started).toEqual(['a', 'b']);
});

test('one that waits too long is refused, and does not take a place later', async () => {
  const lookups = createLookups(1);
  const end = lookups.begin('address', () => 1) as () => void;
  await expect(lookups.begin('address', () => 1)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  end();
  expect(lookups.begin('address', () => 1)).toBeInstanceOf(Function);
});
