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

/** How long one message took, in milliseconds. */
export interface Taken {
  /** From when it was due to when it was seen. */
  readonly wholeMs: number;
  /** From when its sender had the answer; 0 where it was seen before. */
  readonly afterAnswerMs: number;
}

const patienceMs = 30_000;
let last = 0;

/**
 * Sends at times that a clock gives and nothing delays, with the random gaps of callers who know nothing of each other. Counts from when each
 * message was due, so that a send that waits behind others counts with its waiting (no coordinated omission).
 * Throws where one is refused or does not arrive.
 */
export async function openLoop(way: Way, { perSecond, seconds }: Flow): Promise<Taken[]> {
  const due = new Map<number, number>();
  const answered = new Map<number, number>();
  const seen = new Map<number, number>();
  way.onSeen = (number) => {
    if (due.has(number)) seen.set(number, performance.now());
  };
  let failure: unknown;
  const sends: Promise<unknown>[] = [];
  const start = performance.now();
  for (let at = start; at < start + seconds * 1_000; at += (-Math.log(1 - Math.random()) * 1_000) / perSecond) {
    const waitMs = at - performance.now();
    if (waitMs > 0) await pause(waitMs);
    last += 1;
    due.set(last, at);
    const number = last;
    const noted = () => answered.set(number, performance.now());
    sends.push(
      way.send(number).then(noted, (error) => {
        failure ??= error;
      }),
    );
  }
  await Promise.all(sends);
  if (failure !== undefined) throw failure;
  for (const deadline = performance.now() + patienceMs; seen.size < due.size; await pause(5))
    if (performance.now() > deadline) throw new Error(`${seen.size} of ${due.size} messages were seen`);
  return [...seen].map(([number, at]) => ({
    wholeMs: at - (due.get(number) ?? Number.NaN),
    afterAnswerMs: Math.max(0, at - (answered.get(number) ?? Number.NaN)),
  }));
}
