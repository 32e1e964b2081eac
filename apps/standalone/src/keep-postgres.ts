import { type EmbeddedPostgres, type PostgresOptions, startPostgres } from '@acsp/local';
import type { Logger } from '@acsp/service';

export interface KeptPostgres extends AsyncDisposable {
  readonly url: (database: string) => string;
  /** Resolves with the reason when the server has ended by itself and cannot be started again. */
  readonly failed: Promise<Error>;
}

/** A server that ends more often than this within a minute has a fault that another start does not mend. */
const maxRestartsAMinute = 5;

/** The embedded PostgreSQL, started again on its port when it ends by itself, so that connections find it where it was. */
export async function keepPostgres(options: PostgresOptions, log: Logger): Promise<KeptPostgres> {
  const first = await startPostgres(options);
  const { port, url } = first;
  let current: Promise<EmbeddedPostgres> = Promise.resolve(first);
  let stopping = false;

  const keep = async (): Promise<Error> => {
    for (const restarts: number[] = []; ; restarts.push(Date.now())) {
      const postgres = await current;
      await postgres.exited;
      if (stopping) return new Error('PostgreSQL was stopped');
      log.error({ pid: postgres.pid, restarts: restarts.length }, 'PostgreSQL ended by itself; starting it again');
      const recent = restarts.filter((at) => at > Date.now() - 60_000);
      if (recent.length >= maxRestartsAMinute) return tooOften();
      current = startAgain(postgres, { ...options, port });
    }
  };
  return {
    url,
    failed: keep().catch((error: Error) => error),
    async [Symbol.asyncDispose]() {
      stopping = true;
      const last = await current.catch(() => undefined);
      await last?.[Symbol.asyncDispose]();
    },
  };
}

async function startAgain(ended: EmbeddedPostgres, options: PostgresOptions): Promise<EmbeddedPostgres> {
  await ended[Symbol.asyncDispose]();
  return startPostgres(options);
}

const tooOften = () =>
  new Error(
    `PostgreSQL ended by itself more than ${maxRestartsAMinute} times in a minute: is memory or disk space short here?`,
  );
