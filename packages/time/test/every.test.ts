import { once } from 'node:events';
import { collectLog } from '@acsp/testkit';
import { every } from '../src/index.js';

/** Promises that the test settles, one a run. */
function runs() {
  const waiting: (() => void)[] = [];
  let started = 0;
  return {
    started: () => started,
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
    begin() {
      started++;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

test('a failed run is logged under the name of its job, and the next one comes', async () => {
  const { log, lines } = collectLog();
  const seen = runs();
  const first = seen.next();
  const timer = every({ name: 'tidying', intervalMs: 1, log }, () => {
    seen.begin();
    throw new Error('database is away');
  });
  await first;
  await seen.next();
  await timer[Symbol.asyncDispose]();
  expect(lines[0]).toMatchObject({ level: 'error', job: 'tidying', err: { message: 'database is away' } });
});

test('runs never overlap', async () => {
  const { log } = collectLog();
  const seen = runs();
  let [active, most] = [0, 0];
  const timer = every({ name: 'slow', intervalMs: 1, log }, async () => {
    most = Math.max(most, ++active);
    seen.begin();
    // Longer than the interval.
    const end = Date.now() + 5;
    while (Date.now() < end) await new Promise(setImmediate);
    active--;
  });
  for (let run = 0; run < 3; run++) await seen.next();
  await timer[Symbol.asyncDispose]();
  expect(most).toBe(1);
});

test('disposing aborts the signal, waits for the run and starts no other', async () => {
  const { log, lines } = collectLog();
  const seen = runs();
  const first = seen.next();
  let ended = false;
  const timer = every({ name: 'obedient', intervalMs: 1, log }, async (signal) => {
    seen.begin();
    await once(signal, 'abort');
    await new Promise(setImmediate);
    ended = true;
  });
  await first;
  await timer[Symbol.asyncDispose]();
  expect(ended).toBe(true);
  expect(seen.started()).toBe(1);
  expect(lines).toEqual([]);
});

test('disposing does not wait for ever', async () => {
  const { log } = collectLog();
  const seen = runs();
  const first = seen.next();
  const timer = every({ name: 'endless', intervalMs: 1, log, stopTimeoutMs: 10 }, () => {
    seen.begin();
    return new Promise<void>(() => {});
  });
  await first;
  await expect(timer[Symbol.asyncDispose]()).rejects.toThrow('The job endless took longer than 10 ms');
});
