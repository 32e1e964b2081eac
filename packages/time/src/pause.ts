import { setTimeout as timeout } from 'node:timers/promises';

/** Waits; the signal ends the wait early, without an error. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await timeout(ms, undefined, { signal }).catch(() => {});
}

/** The outcome of the promise, or undefined when the signal comes first. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    // Nobody waits for the promise any more: its rejection must not end the process as an unhandled one.
    promise.catch(() => {});
    return undefined;
  }
  let abort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    abort = () => resolve(undefined);
    signal.addEventListener('abort', abort);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
