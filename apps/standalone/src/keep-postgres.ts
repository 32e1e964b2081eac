import { type EmbeddedPostgres, type PostgresOptions, startPostgres } from '@acsp/local';
import type { Logger } from '@acsp/service';
import { pause } from '@acsp/time';

export interface KeptPostgres extends AsyncDisposable {
  readonly url: (database: string) => string;
  /** Resolves with the reason when the server has ended by itself and cannot be started again. */
  readonly failed: Promise<Error>;
}

/** A server that needs more starts than this within a minute has a fault that another start does not mend. */
const maxStartsAMinute = 5;
const firstPauseMs = 100;

/**
 * The embedded PostgreSQL, started again on its port when it ends by itself, so that connections find it where it was. What ended it may end it
 * again while it recovers, so a start that fails is tried again too.
 */
export async function keepPostgres(options: PostgresOptions, log: Logger): Promise<KeptPostgres> {
  const first = await startPostgres(options);
  const { port, url } = first;
  const stopping = new AbortController();
  const starts = createStarts();
  let current: Promise<EmbeddedPostgres> = Promise.resolve(first);

  const startAgain = async (ended: EmbeddedPostgres): Promise<EmbeddedPostgres> => {
    await ended[Symbol.asyncDispose]();
    if (!starts.mayStart()) throw tooOften();
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      try {
        return await startPostgres({ ...options, port });
      } catch (failure) {
        if (stopping.signal.aborted || !starts.mayStart()) throw failure;
        log.error({ err: failure }, 'PostgreSQL did not start; trying again');
        await pause(pauseMs, stopping.signal);
        if (stopping.signal.aborted) throw failure;
      }
    }
  };
  const keep = async (): Promise<Error> => {
    for (;;) {
      const { pid, exited } = await current;
      await exited;
      if (stopping.signal.aborted) return new Error('PostgreSQL was stopped');
      log.error({ pid }, 'PostgreSQL ended by itself; starting it again');
      current = current.then(startAgain);
    }
  };
  return {
    url,
    failed: keep().catch((error: Error) => error),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const last = await current.catch(() => undefined);
      await last?.[Symbol.asyncDispose]();
    },
  };
}

/** Counts starts, and allows `maxStartsAMinute` of them. */
function createStarts() {
  let recent: number[] = [];
  return {
    mayStart(): boolean {
      const now = performance.now();
      recent = recent.filter((at) => at > now - 60_000);
      if (recent.length >= maxStartsAMinute) return false;
      recent.push(now);
      return true;
    },
  };
}

const tooOften = () =>
  new Error(
    `PostgreSQL ended by itself more than ${maxStartsAMinute} times in a minute: is memory or disk space short here?`,
  );
