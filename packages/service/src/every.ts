import { within } from './within.js';

/**
 * Runs `job` again and again, first after one interval and then an interval after each end, so that runs never overlap. Intervals are
 * spread by a tenth either way: replicas that start together must not work together. An error is logged and the next run comes.
 * Disposing aborts the job's signal and waits for a run in progress, at most `stopTimeoutMs`; then it rejects.
 */
export function every(
  intervalMs: number,
  job: (signal: AbortSignal) => void | Promise<void>,
  log: { error(fields: object, message: string): void },
  { stopTimeoutMs = 10_000 }: { readonly stopTimeoutMs?: number } = {},
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
      if (!stop.signal.aborted) log.error({ err: error }, 'a periodic job failed');
    }
  };

  schedule();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      clearTimeout(timer);
      await within(stopTimeoutMs, 'A periodic job', running);
    },
  };
}
