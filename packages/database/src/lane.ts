import { AppError } from '@acsp/errors';

export interface LaneOptions {
  /** Functions that run at the same time. */
  readonly width: number;
  /** Further ones wait, so many at most. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  /** One sentence for callers that are refused. */
  readonly detail: string;
}

/** Runs a function once it is its turn: those of the least cost come first, and of the same cost the oldest. Throws SERVICE_UNAVAILABLE where too many wait, or its turn does not come in time; it has not run then. */
export interface Lane {
  <T>(run: () => Promise<T>, cost?: number): Promise<T>;
  readonly running: () => number;
  readonly waiting: () => number;
}

/** Keeps work that costs much apart from all other work, which has the rest of the connections, the memory and the processor. */
export function createLane({ width, maxWaiting, maxWaitMs, detail }: LaneOptions): Lane {
  /** By their cost. */
  const waiting = new Map<() => void, number>();
  let running = 0;

  /** Resolves with a place that another run has left. */
  function placeLeft(cost: number): Promise<void> {
    const refused = () => new AppError('SERVICE_UNAVAILABLE', { detail, retryAfterSeconds: 2 });
    if (waiting.size >= maxWaiting) throw refused();
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        reject(refused());
      }, maxWaitMs);
      waiting.set(enter, cost);
    });
  }

  function leave(): void {
    const least = Math.min(...waiting.values());
    const next = [...waiting].find(([, cost]) => cost === least);
    if (next === undefined) running -= 1;
    else {
      waiting.delete(next[0]);
      next[0]();
    }
  }

  async function lane<T>(run: () => Promise<T>, cost = 0): Promise<T> {
    if (running < width) running += 1;
    else await placeLeft(cost);
    try {
      return await run();
    } finally {
      leave();
    }
  }
  return Object.assign(lane, { running: () => running, waiting: () => waiting.size });
}
