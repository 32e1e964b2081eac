import type { Database } from '@acsp/database';
import type { TestService } from './start-service.js';

interface Surroundings {
  readonly database: Pick<Database<unknown>, 'session'>;
}

/** Keeps the periodic jobs of a service from running, in all replicas: holds their locks as a replica at work does, until the service ends. */
export async function holdJobs<C extends Surroundings>(
  { context }: Pick<TestService<C>, 'context'>,
  service: string,
  jobs: readonly string[],
): Promise<void> {
  for (const job of jobs) {
    await new Promise<void>((begun) => {
      context.database.session.lead(`${service} ${job}`, async (_client, signal) => {
        begun();
        await new Promise<void>((end) => signal.addEventListener('abort', () => end(), { once: true }));
      });
    });
  }
}

interface Timer {
  readonly run: () => void;
  readonly delayMs: number;
  readonly timer: NodeJS.Timeout;
}

/** Starts a service, and answers it with a function that runs the one job which is due in about half a minute. */
export async function withHalfMinuteJob<T>(start: () => Promise<T>): Promise<readonly [service: T, run: () => void]> {
  const { setTimeout } = globalThis;
  const timers: Timer[] = [];
  globalThis.setTimeout = ((run: () => void, delayMs = 0, ...rest: []) => {
    const timer = setTimeout(run, delayMs, ...rest);
    timers.push({ run, delayMs, timer });
    return timer;
  }) as typeof setTimeout;
  const service = await start();
  globalThis.setTimeout = setTimeout;
  const run = () => {
    // Those of exactly half a minute are gRPC's keepalive; a periodic job is never that punctual.
    const due = timers.filter(({ delayMs }) => delayMs >= 27_000 && delayMs <= 33_000 && delayMs !== 30_000);
    expect(due).toHaveLength(1);
    clearTimeout(due[0]?.timer);
    due[0]?.run();
  };
  return [service, run];
}
