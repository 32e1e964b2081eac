import { AppError } from '@acsp/errors';

/** An input, and whoever waits for its row. */
export interface Waiting {
  readonly key: string;
  /** Undefined where the statement names no locks. */
  readonly lock: string | undefined;
  readonly input: object;
  readonly since: number;
  /** Milliseconds since 1970; Infinity without a call. */
  readonly deadline: number;
  readonly resolve: (row: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The inputs of a run by key. */
export type Chosen = ReadonlyMap<string, readonly Waiting[]>;
/** Resolves with the inputs that have to wait for a lock and are to be run again. */
export type Run = (chosen: Chosen) => Promise<readonly Waiting[]>;

/** While a run is in flight, further inputs gather for the next one; beside a run that is slow a second one begins. */
const maxRuns = 2;
const slowMs = 5;
const maxWaitMs = 2_000;

export interface Queue {
  readonly add: (one: Waiting) => void;
  readonly depth: () => number;
}

interface QueueOptions {
  readonly readOnly?: boolean;
  readonly maxInputs?: number;
}

/** The inputs of one statement that wait for a run. Inputs of one key never share a run of a writing statement. */
export function createQueue({ readOnly = false, maxInputs = 128 }: QueueOptions, run: Run): Queue {
  let waiting: Waiting[] = [];
  const inFlight = new Set<string>();
  /** Rows that were seen to be locked by somebody else. Inputs of one of them run together, and with no other. */
  const locked = new Set<string>();
  const trying = new Set<string>();
  let [runs, startedAt, planned] = [0, 0, false];

  /** Starts a run at the end of this turn of the event loop, so that inputs of the same turn share it. */
  function plan(): void {
    const free = runs === 0 || (runs < maxRuns && performance.now() - startedAt >= slowMs);
    if (planned || !free || waiting.length === 0) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      const chosen = choose();
      if (chosen.size > 0) start(chosen);
    });
  }

  function start(chosen: Chosen): void {
    runs += 1;
    startedAt = performance.now();
    // Timers may be early by a fraction of a millisecond.
    const slow = setTimeout(plan, slowMs + 1);
    run(chosen).then((again) => {
      clearTimeout(slow);
      runs -= 1;
      for (const [key, [one]] of chosen) {
        inFlight.delete(key);
        locked.delete(one?.lock ?? '');
        trying.delete(one?.lock ?? '');
      }
      for (const { lock = '' } of again) locked.add(lock);
      waiting.push(...again);
      plan();
    });
  }

  /** Takes the oldest inputs whose key is free, in key order. All processes lock rows in key order, so batches cannot deadlock. */
  function choose(): Chosen {
    const chosen = new Map<string, Waiting[]>();
    const apart = ({ lock = '' }: Waiting) => (locked.has(lock) ? lock : '');
    let chosenApart: string | undefined;
    waiting = waiting.filter((one) => {
      if (refusedAsLate(one)) return false;
      if (trying.has(one.lock ?? '')) return true;
      chosenApart ??= apart(one);
      if (apart(one) !== chosenApart) return true;
      const others = chosen.get(one.key);
      if (others !== undefined && readOnly) others.push(one);
      else if (others !== undefined || inFlight.has(one.key) || chosen.size === maxInputs) return true;
      else chosen.set(one.key, [one]);
      return false;
    });
    if (!readOnly) for (const key of chosen.keys()) inFlight.add(key);
    if (chosenApart) trying.add(chosenApart);
    return new Map([...chosen].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  return {
    add(one) {
      waiting.push(one);
      plan();
    },
    depth: () => waiting.length,
  };
}

/** Rejects an input that has waited too long: its caller may have been answered 503, so it must not be written. */
export function refusedAsLate(one: Waiting): boolean {
  const late = performance.now() - one.since > maxWaitMs;
  if (late) one.reject(tooSlow());
  return late || refusedAsOver(one);
}

export function refusedAsOver({ deadline, reject }: Waiting): boolean {
  const over = Date.now() >= deadline;
  if (over) reject(tooSlow());
  return over;
}

export const tooSlow = (cause?: unknown) =>
  new AppError('SERVICE_UNAVAILABLE', { detail: 'The database is too slow', cause });
