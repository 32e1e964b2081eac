import { createAgentCache } from './agent-cache.js';

interface Answer {
  readonly aid: string;
  readonly version: number;
}

/** A cache whose questions the test answers by hand. */
function setUp({ maxEntries = 10 } = {}) {
  const questions: { key: string; answer: (aid: string) => void; fail: (error: Error) => void }[] = [];
  const time = { now: 0, fresh: 1000 };
  let version = 0;
  const cache = createAgentCache<Answer>({
    maxEntries,
    freshMs: () => time.fresh,
    now: () => time.now,
    ask: (key) =>
      new Promise((resolve, reject) => {
        version += 1;
        const mine = version;
        questions.push({ key, answer: (aid) => resolve({ aid, version: mine }), fail: reject });
      }),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const learn = async (id: string, aid: string) => {
    const found = cache.find(id, id);
    questions.at(-1)?.answer(aid);
    return found;
  };
  return { cache, questions, time, settle, learn };
}

test('asks once and remembers for as long as an answer is fresh', async () => {
  const { cache, questions, time, learn } = setUp();
  await learn('key', 'alice');
  time.now = 999;
  expect(await cache.find('key', 'key')).toEqual({ aid: 'alice', version: 1 });
  time.now = 1000;
  void cache.find('key', 'key');
  expect(questions).toHaveLength(2);
});

test('counts age from the question, not from the answer', async () => {
  const { cache, questions, time } = setUp();
  const found = cache.find('key', 'key');
  time.now = 900;
  questions[0]?.answer('alice');
  await found;
  time.now = 1000;
  void cache.find('key', 'key');
  expect(questions).toHaveLength(2);
});

test('becomes stricter at once when freshness shrinks', async () => {
  const { cache, questions, time, learn } = setUp();
  await learn('key', 'alice');
  [time.now, time.fresh] = [500, 500];
  void cache.find('key', 'key');
  expect(questions).toHaveLength(2);
});

test('joins those who ask for the same', async () => {
  const { cache, questions } = setUp();
  const both = [cache.find('key', 'key'), cache.find('key', 'key')];
  questions[0]?.answer('alice');
  expect(await Promise.all(both)).toEqual([expect.anything(), expect.anything()]);
  expect(questions).toHaveLength(1);
});

test('does not remember failures', async () => {
  const { cache, questions, learn } = setUp();
  const found = cache.find('key', 'key');
  questions[0]?.fail(new Error('no'));
  await expect(found).rejects.toThrow('no');
  expect(await learn('key', 'alice')).toEqual({ aid: 'alice', version: 2 });
});

test('forgets all that it knows of an agent, and nothing of others', async () => {
  const { cache, questions, learn } = setUp();
  await learn('a1', 'alice');
  await learn('a2', 'alice');
  await learn('b', 'bob');
  cache.drop('alice');
  void cache.find('b', 'b');
  expect(questions).toHaveLength(3);
  void cache.find('a1', 'a1');
  void cache.find('a2', 'a2');
  expect(questions).toHaveLength(5);
});

test('asks again when the agent changed while the answer was on its way', async () => {
  const { cache, questions, settle } = setUp();
  const found = cache.find('key', 'key');
  cache.drop('alice');
  questions[0]?.answer('alice');
  await settle();
  questions[1]?.answer('alice');
  expect(await found).toEqual({ aid: 'alice', version: 2 });
});

test('takes an answer on its way when another agent changed', async () => {
  const { cache, questions } = setUp();
  const found = cache.find('key', 'key');
  cache.drop('bob');
  questions[0]?.answer('alice');
  expect(await found).toEqual({ aid: 'alice', version: 1 });
});

test('clearing forgets all, and does not remember what was on its way', async () => {
  const { cache, questions, learn } = setUp();
  await learn('a', 'alice');
  const found = cache.find('b', 'b');
  cache.clear();
  questions[1]?.answer('bob');
  expect(await found).toMatchObject({ aid: 'bob' });
  void cache.find('a', 'a');
  void cache.find('b', 'b');
  expect(questions).toHaveLength(4);
});

test('never uses an entry whose agent it can no longer drop', async () => {
  const { cache, questions, learn } = setUp({ maxEntries: 2 });
  await learn('a', 'alice');
  await learn('b', 'bob');
  await learn('c', 'carol');
  void cache.find('a', 'a');
  expect(questions).toHaveLength(4);
});
