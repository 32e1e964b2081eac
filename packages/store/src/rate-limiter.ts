import { counter, type Log } from '@acsp/telemetry';
import { type Bucket, placeOf } from './bucket.js';
import { connectRedis } from './connect-redis.js';
import { keepWindows } from './kept-windows.js';
import { type RedisWindows, redisWindows } from './redis-windows.js';
import { createWindows, type Window } from './windows.js';

export interface Consumed {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export interface RateLimiter extends AsyncDisposable {
  /**
   * Counts one call of `key`. While Redis is away or hangs, this process counts for itself. Never rejects. A caller whose limit is known to be
   * used up is refused until the window ends, at once and without a promise: a flood does not reach Redis.
   */
  consume(bucket: Bucket, key: string): Consumed | Promise<Consumed>;
  /**
   * The refusal, where this process knows that the limit of `key` is used up; it counts as one in the metrics, but no call is counted. Undefined does
   * not say that the next call is allowed: other replicas may have used the limit up.
   */
  isRefused(bucket: Bucket, key: string): Consumed | undefined;
  /** How many more calls of `key` are allowed as far as this process knows: other replicas may have counted some. Nothing is counted. */
  roomOf(bucket: Bucket, key: string): number;
}

export interface RateLimiterOptions {
  /** Replicas count together in Redis. Stores and rate limiters with the same URL share one connection. */
  readonly redisUrl?: string | undefined;
  /**
   * Without Redis a process counts for itself, in memory. Where a database is named its counts survive `kill -9`, except for those of the last 200 ms,
   * which may be lost because they are written behind. It is meant for one process: several would overwrite each other's counts.
   */
  readonly databaseUrl?: string | undefined;
  readonly log: Log;
}

const refusals = counter('acsp_limiter_refusals_total', 'Calls refused because a limit was used up', ['limit']);
const local = counter('acsp_limiter_local_total', 'Calls counted by this process alone while Redis was away');

export function createRateLimiter({ redisUrl, databaseUrl, log }: RateLimiterOptions): RateLimiter {
  if (redisUrl !== undefined) return sharedLimiter(redisWindows(connectRedis(redisUrl, log)));
  return localLimiter(databaseUrl, log);
}

function localLimiter(databaseUrl: string | undefined, log: Log): RateLimiter {
  const windows = createWindows();
  const kept = databaseUrl === undefined ? undefined : keepWindows(windows, databaseUrl, log);
  let isRestoring = kept !== undefined;
  async function afterRestoring(): Promise<void> {
    await kept?.restored();
    isRestoring = false;
  }
  const isRefused = (bucket: Bucket, key: string) => refusal(bucket, windows.find(placeOf(bucket, key)));
  const count = (bucket: Bucket, key: string) => isRefused(bucket, key) ?? consumed(bucket, windows.count(bucket, key));
  return {
    isRefused,
    roomOf: (bucket, key) => roomIn(bucket, windows.find(placeOf(bucket, key))),
    consume: (bucket, key) => (isRestoring ? afterRestoring().then(() => count(bucket, key)) : count(bucket, key)),
    async [Symbol.asyncDispose]() {
      await kept?.[Symbol.asyncDispose]();
    },
  };
}

function sharedLimiter(redis: RedisWindows): RateLimiter {
  /** These windows count while Redis is away. At its return its own windows stand, and a refusal that was counted here ends. */
  const windows = createWindows();

  async function count(bucket: Bucket, key: string): Promise<Consumed> {
    try {
      return consumed(bucket, await redis.count(bucket, key));
    } catch {
      local.inc();
      return consumed(bucket, windows.count(bucket, key));
    }
  }

  const isRefused = (bucket: Bucket, key: string) =>
    refusal(bucket, redis.lastSeen(bucket, key)) ??
    (redis.isThere() ? undefined : refusal(bucket, windows.find(placeOf(bucket, key))));
  return {
    isRefused,
    roomOf(bucket, key) {
      const room = roomIn(bucket, redis.lastSeen(bucket, key));
      return redis.isThere() ? room : Math.min(room, roomIn(bucket, windows.find(placeOf(bucket, key))));
    },
    consume: (bucket, key) => isRefused(bucket, key) ?? count(bucket, key),
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  };
}

const roomIn = ({ limit }: Bucket, window: Window | undefined): number => Math.max(0, limit - (window?.count ?? 0));

/** The answer to the next call, if the window has no room for it. */
const refusal = (bucket: Bucket, window: Window | undefined): Consumed | undefined =>
  window !== undefined && window.count >= bucket.limit
    ? consumed(bucket, { ...window, count: window.count + 1 })
    : undefined;

/** The answer to a call that the window has counted. */
function consumed({ name, limit }: Bucket, { count, endsAt }: Window): Consumed {
  const allowed = count <= limit;
  if (!allowed) refusals.inc({ limit: name });
  return {
    allowed,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil((endsAt - performance.now()) / 1000)),
  };
}
