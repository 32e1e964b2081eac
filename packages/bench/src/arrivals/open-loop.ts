import { setTimeout as pause } from 'node:timers/promises';

/** A way that numbered messages take, from who sends them to who sees them. */
export interface Way extends AsyncDisposable {
  send(number: number): Promise<unknown>;
  /** Called with the number of each message that was seen. */
  onSeen: (number: number) => void;
}

export interface Flow {
  readonly perSecond: number;
  readonly seconds: number;
}

const patienceMs = 10_000;
let last = 0;

/**
 * Sends at times that a clock gives and nothing delays, with the random gaps of callers who know nothing of each other. Answers the milliseconds from
 * when each message was due to when it was seen, so that a send that waits behind others counts with its waiting (no coordinated omission).
 * Throws where one is refused or does not arrive.
 */
export async function openLoop(way: Way, { perSecond, seconds }: Flow): Promise<number[]> {
  const due = new Map<number, number>();
  const latencies: number[] = [];
  way.onSeen = (number) => {
    const at = due.get(number);
    if (at === undefined || !due.delete(number)) return;
    latencies.push(performance.now() - at);
  };
  let failure: unknown;
  const sends: Promise<unknown>[] = [];
  const start = performance.now();
  for (let at = start; at < start + seconds * 1_000; at += (-Math.log(1 - Math.random()) * 1_000) / perSecond) {
    const waitMs = at - performance.now();
    if (waitMs > 0) await pause(waitMs);
    last += 1;
    due.set(last, at);
    sends.push(
      way.send(last).catch((error) => {
        failure ??= error;
      }),
    );
  }
  await Promise.all(sends);
  if (failure !== undefined) throw failure;
  for (const deadline = performance.now() + patienceMs; due.size > 0; await pause(5))
    if (performance.now() > deadline) throw new Error(`${due.size} of ${sends.length} messages were not seen`);
  return latencies;
}
