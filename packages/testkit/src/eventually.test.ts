import { eventually } from './eventually.js';

test('gives the first answer that is neither an error nor false', async () => {
  const answers = [() => Promise.reject(new Error('not yet')), () => false, () => 0];
  expect(await eventually(() => answers.shift()?.(), { intervalMs: 1 })).toBe(0);
});

test('fails as the last try did', async () => {
  const failing = () => {
    throw new Error('still down');
  };
  await expect(eventually(failing, { timeoutMs: 10, intervalMs: 1 })).rejects.toThrow('still down');
  await expect(eventually(() => false, { timeoutMs: 10, intervalMs: 1 })).rejects.toThrow('still false after 10 ms');
});
