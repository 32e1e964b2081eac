import { randomUUID } from 'node:crypto';
import { describeWith, eventually, quietLog as log, serverUrl, type TestDatabase, testDatabase } from '@acsp/testkit';
import { createStore, memoryStore, type Store } from '../src/index.js';
import { connectedTo } from './connected-to.js';

describe('memory', () => contract(() => memoryStore()));

for (const onOutage of ['memory', 'fail'] as const) {
  describeWith('redis', `Redis, on an outage ${onOutage}`, () => {
    let connected: AsyncDisposable;
    beforeAll(async () => {
      connected = await connectedTo(serverUrl('redis'));
    });
    afterAll(() => connected[Symbol.asyncDispose]());
    const open = (prefix: string) => createStore({ redisUrl: serverUrl('redis'), prefix, onOutage, log });
    contract(() => open(randomUUID()));
    contractOfPrefixes(open);
  });
}

describeWith('postgres', 'PostgreSQL', () => {
  let database: TestDatabase;
  let connected: Store;
  const open = (prefix: string) => createStore({ databaseUrl: database.url, prefix, onOutage: 'fail', log });
  beforeAll(async () => {
    database = await testDatabase();
    connected = open('');
    await connected.add('first', 'waits for the migrations', 10);
  });
  afterAll(async () => {
    await connected[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  contract(() => open(randomUUID()));
  contractOfPrefixes(open);
});

test('a store must be somewhere', () => {
  expect(() => createStore({ prefix: '', onOutage: 'fail', log })).toThrow('database URL');
});

function contractOfPrefixes(open: (prefix: string) => Store) {
  test('stores of different prefixes do not see each other, stores of the same do', async () => {
    await using one = open('a:');
    await using same = open('a:');
    await using other = open('b:');
    const key = randomUUID();
    await one.set(key, 'value', 10);
    expect(await same.get(key)).toBe('value');
    expect(await other.get(key)).toBeUndefined();
  });
}

function contract(open: () => Store) {
  let store: Store;
  beforeAll(() => {
    store = open();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const gone = (key: string) => eventually(async () => (await store.get(key)) === undefined);
  const twenty = <T>(run: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, run));

  test.each([['plain'], [''], ['Ünïcode 🚀 \u0000 "\\'], ['x'.repeat(200_000)]])(
    'gives back to the letter: %#',
    async (value) => {
      const key = randomUUID();
      await store.set(key, value, 10);
      expect(await store.get(key)).toBe(value);
    },
  );

  test('knows nothing of a key that was never set', async () => {
    expect(await store.get(randomUUID())).toBeUndefined();
    await store.delete(randomUUID());
  });

  test('set replaces the value and its time to live', async () => {
    const key = randomUUID();
    await store.set(key, 'first', 100);
    await store.set(key, 'second', 0.05);
    expect(await store.get(key)).toBe('second');
    await gone(key);
  });

  test('a key ends with its time, and may be added again then', async () => {
    const key = randomUUID();
    expect(await store.add(key, 'first', 0.05)).toBe(true);
    await eventually(() => store.add(key, 'second', 10));
    expect(await store.get(key)).toBe('second');
  });

  test('of twenty that add a key at once one does, and its value stays', async () => {
    const key = randomUUID();
    let writer = 0;
    const won = await twenty(async () => {
      const value = String(writer++);
      return (await store.add(key, value, 10)) ? [value] : [];
    });
    expect(won.flat()).toHaveLength(1);
    expect(await store.get(key)).toBe(won.flat()[0]);
  });

  test('many keys at once are added each', async () => {
    const keys = Array.from({ length: 300 }, () => randomUUID());
    const add = () => Promise.all(keys.map((key) => store.add(key, key, 10)));
    expect(new Set(await add())).toEqual(new Set([true]));
    expect(new Set(await add())).toEqual(new Set([false]));
    expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(keys);
  });

  test('is ready', () => store.ready());

  test('a deleted key is gone, and may be added again', async () => {
    const key = randomUUID();
    await store.set(key, 'value', 10);
    await store.delete(key);
    expect(await store.get(key)).toBeUndefined();
    expect(await store.add(key, 'again', 10)).toBe(true);
  });
}
