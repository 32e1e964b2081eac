import { every } from '../src/index.js';
import { collectLog } from './collect-log.js';

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

test('a failed run is logged and the next one comes', async () => {
  const { log, lines } = collectLog();
  const seen = runs();
  const first = seen.next();
  const timer = every(
    1,
    () => {
      seen.begin();
      throw new Error('database is away');
    },
    log,
  );
  await first;
  await seen.next();
  await timer[Symbol.asyncDispose]();
  expect(lines[0]).toMatchObject({ level: 'error', err: { message: 'database is away' } });
});

test('runs never overlap', async () => {
  const { log } = collectLog();
  const seen = runs();
  let active = 0;
  let most = 0;
  const timer = every(
    1,
    async () => {
      most = Math.max(most, ++active);
      seen.begin();
      await new Promise((resolve) => setTimeout(resolve, 5));
      active--;
    },
    log,
  );
  for (let run = 0; run < 3; run++) await seen.next();
  await timer[Symbol.asyncDispose]();
  expect(most).toBe(1);
});

test('disposing aborts the signal, waits for the run and starts no other', async () => {
  const { log, lines } = collectLog();
  const seen = runs();
  const first = seen.next();
  let ended = false;
  const timer = every(
    1,
    async (signal) => {
      seen.begin();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise(setImmediate);
      ended = true;
    },
    log,
  );
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
  const job = () => {
    seen.begin();
    return new Promise<void>(() => {});
  };
  const timer = every(1, job, log, { stopTimeoutMs: 10 });
  await first;
  await expect(timer[Symbol.asyncDispose]()).rejects.toThrow('A periodic job took longer than 10 ms');
});
