import { AppError } from '@acsp/errors';
import type { Call } from '@acsp/operation';
import { pause } from '@acsp/time';

/** A caller waits no longer than this, and nothing is written afterwards. */
const patienceMs = 4_000;

/** Until when what begins now is tried, in milliseconds since 1970. */
export const patience = (call: Call | undefined): number =>
  Math.min(call?.deadline ?? Number.POSITIVE_INFINITY, Date.now() + patienceMs);

/**
 * Tries a write that rests on rows as they were read again and again, with a random backoff, so that two replicas do not keep in step. An attempt
 * answers undefined where another change was faster or holds the row. Throws SERVICE_UNAVAILABLE when time runs out or the caller has gone.
 */
export async function untilWritten<Written extends object>(
  attempt: () => Promise<Written | undefined>,
  { call, until = patience(call) }: { readonly call: Call | undefined; readonly until?: number },
): Promise<Written> {
  for (let tried = 1; Date.now() < until; tried += 1) {
    const written = await attempt();
    if (written !== undefined) return written;
    await pause(Math.random() * Math.min(2 ** tried, 50), call?.signal);
    if (call?.signal.aborted) break;
  }
  throw new AppError('SERVICE_UNAVAILABLE', { detail: 'What this changes is changing too fast, or is locked' });
}
