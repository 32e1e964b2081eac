import type { Log } from '@acsp/telemetry';
import { within } from './within.js';

export interface EveryOptions {
  /** In log lines. */
  readonly name: string;
  /** Between the end of one run and the start of the next, spread by a tenth either way: replicas must not work in step. */
  readonly intervalMs: number;
  readonly log: Log;
  /** How long disposing waits for a run in progress; 10 s when absent. */
  readonly stopTimeoutMs?: number;
}

/**
 * Runs `job` again and again, first after one interval, so that runs never overlap. An error is logged and the next run comes.
 * Disposing aborts the job's signal and waits for a run in progress; then it rejects.
 */
export function every(
  { name, intervalMs, log, stopTimeoutMs = 10_000 }: EveryOptions,
  job: (signal: AbortSignal) => void | Promise<void>,
): AsyncDisposable {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const schedule = () => {
    if (stop.signal.aborted) return;
    timer = setTimeout(
      () => {
        running = runOnce().finally(schedule);
      },
      intervalMs * (0.9 + Math.random() * 0.2),
    );
  };
  const runOnce = async () => {
    try {
      await job(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) log.error({ err: error, job: name }, 'a periodic job failed');
    }
  };

  schedule();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      clearTimeout(timer);
      await within(stopTimeoutMs, `The job ${name}`, running);
    },
  };
}
