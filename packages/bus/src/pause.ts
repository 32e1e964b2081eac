import { setTimeout as timeout } from 'node:timers/promises';

/** Waits; the signal ends the wait early, without an error. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await timeout(ms, undefined, { signal }).catch(() => {});
}
