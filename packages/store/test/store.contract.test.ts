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
    await one.schedule('calls', key, 0);
    expect(await same.due('calls', 10)).toEqual([key]);
    expect(await other.due('calls', 10)).toEqual([]);
    expect(await other.unschedule('calls', [key])).toEqual([]);
    expect(await same.unschedule('calls', [key])).toEqual([key]);
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

  test('members are due from their time on, those that have been for longest first, and stay until they are taken off', async () => {
    const name = randomUUID();
    for (const [member, dueInSeconds] of [
      ['later', 100],
      ['second', 0.05],
      ['first', 0],
    ] as const)
      await store.schedule(name, member, dueInSeconds);
    expect(await store.due(name, 1)).toEqual(['first']);
    await eventually(async () => (await store.due(name, 10)).length === 2);
    expect(await store.due(name, 10)).toEqual(['first', 'second']);
    expect(await store.due(name, 1)).toEqual(['first']);
    expect((await store.unschedule(name, ['second', 'first', 'unknown', 'later'])).sort()).toEqual(['first', 'second']);
    expect(await store.due(name, 10)).toEqual([]);
    expect(await store.unschedule(name, ['first'])).toEqual([]);
  });

  test('a member that is scheduled again has its new time only, and one that is not due yet stays', async () => {
    const name = randomUUID();
    await store.schedule(name, 'back', 0);
    await store.schedule(name, 'back', 100);
    expect(await store.due(name, 10)).toEqual([]);
    expect(await store.unschedule(name, ['back'])).toEqual([]);
    await store.schedule(name, 'back', 0);
    expect(await store.due(name, 10)).toEqual(['back']);
  });

  test('of twenty that take members off at once one gets each', async () => {
    const [name, members] = [randomUUID(), Array.from({ length: 50 }, () => `Ünïcode ${randomUUID()} \u0000`)];
    await Promise.all(members.map((member) => store.schedule(name, member, 0)));
    const removed = await twenty(() => store.unschedule(name, members));
    expect(removed.flat().sort()).toEqual(members.sort());
  });

  test('a member that is scheduled while others take it off stays, unless it was gone before', async () => {
    const [name, members] = [randomUUID(), Array.from({ length: 50 }, () => randomUUID())];
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(members.map((member) => store.schedule(name, member, 0)));
      await Promise.all([
        ...members.map((member) => store.schedule(name, member, 0.2)),
        twenty(() => store.unschedule(name, members)),
      ]);
      await eventually(async () => (await store.due(name, 100)).length === members.length);
    }
  });
}
