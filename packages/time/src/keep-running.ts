import type { Log } from '@acsp/telemetry';
import { pause } from './pause.js';

const [firstMs, longestMs, stableMs] = [50, 2_000, 5_000];
/** An outage is one line a minute, not one an attempt. */
const sameFailureMs = 60_000;

/** Runs background work until disposed, again after each end and each failure: at once at first, every two seconds in the long run. */
export function keepRunning(name: string, log: Log, work: (signal: AbortSignal) => Promise<void>): AsyncDisposable {
  const ending = new AbortController();
  const { signal } = ending;
  const report = createReport(name, log);

  async function run(): Promise<void> {
    for (let delayMs = firstMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestMs)) {
      const startedAt = Date.now();
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) report(error);
      }
      if (Date.now() - startedAt > stableMs) delayMs = firstMs;
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

/** Logs failures of work that goes on: the same one once a minute. */
export function createReport(
  name: string,
  log: Log,
  message = 'background work failed and begins again',
): (error: unknown) => void {
  let [reportedAt, before] = [Number.NEGATIVE_INFINITY, ''];
  return (error) => {
    const text = String(error);
    if (text === before && Date.now() - reportedAt < sameFailureMs) return;
    [reportedAt, before] = [Date.now(), text];
    log.warn({ err: error, job: name }, message);
  };
}
