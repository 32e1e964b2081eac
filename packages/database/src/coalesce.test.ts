import { createCoalesce } from './coalesce.js';

/** Readings that are answered by hand, in the order in which they began. */
function library() {
  const begun: { resolve: (text: string) => void; reject: (error: Error) => void }[] = [];
  const share = createCoalesce<string>();
  const ask = (key: string) => share(key, () => new Promise((resolve, reject) => begun.push({ resolve, reject })));
  return { begun, ask };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('whoever asks during a reading shares the next one, which begins when that is done', async () => {
  const { begun, ask } = library();
  const answers = [ask('a'), ask('a'), ask('a')];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve('before');
  await turn();
  expect(begun).toHaveLength(2);
  const late = ask('a');
  begun[1]?.resolve('after');
  await turn();
  begun[2]?.resolve('later');
  expect(await Promise.all([...answers, late])).toEqual(['before', 'after', 'after', 'later']);
});

test('after the last reading a new one begins at once', async () => {
  const { begun, ask } = library();
  for (const text of ['one', 'two', 'three']) {
    const answer = ask('a');
    begun.at(-1)?.resolve(text);
    expect(await answer).toBe(text);
    await turn();
  }
  expect(begun).toHaveLength(3);
});

test('readings of other keys do not wait', () => {
  const { begun, ask } = library();
  void ask('a');
  void ask('b');
  expect(begun).toHaveLength(2);
});

test('a reading that fails fails for those who wait for the next, and for nobody after them', async () => {
  const { begun, ask } = library();
  const answers = [ask('a'), ask('a')].map((answer) => answer.catch(({ message }) => message));
  begun[0]?.reject(new Error('gone'));
  expect(await Promise.all(answers)).toEqual(['gone', 'gone']);
  const again = ask('a');
  begun[1]?.resolve('back');
  expect(await again).toBe('back');
});
