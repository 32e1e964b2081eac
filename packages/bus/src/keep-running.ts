import type { Log } from '@acsp/database';
import { pause } from './pause.js';

/** Runs background work until disposed, and again after each end and each failure: at once at first, every two seconds in the long run. */
export function keepRunning(name: string, log: Log, work: (signal: AbortSignal) => Promise<void>): AsyncDisposable {
  const ending = new AbortController();
  const { signal } = ending;

  async function run(): Promise<void> {
    for (let delayMs = 50; !signal.aborted; delayMs = Math.min(delayMs * 2, 2_000)) {
      const startedAt = Date.now();
      try {
        await work(signal);
      } catch (error) {
        log.warn({ err: error, work: name }, 'Background work failed and begins again');
      }
      if (Date.now() - startedAt > 5_000) delayMs = 50;
      await pause(delayMs, signal);
    }
  }

  const ended = run();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await ended;
    },
  };
}
