import { LRUCache } from 'lru-cache';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type Bucket, idOf, placeOf } from './bucket.js';
import type { RedisConnection } from './connect-redis.js';
import type { Shared } from './share-by-url.js';
import { maxWindows, type Window } from './windows.js';

/** Windows that all replicas count in together. */
export interface RedisWindows extends AsyncDisposable {
  isThere(): boolean;
  /** Counts one call. Rejects while Redis is away or hangs. */
  count(bucket: Bucket, key: string): Promise<Window>;
  /** The present window, as Redis has last answered it to this process. */
  lastSeen(bucket: Bucket, key: string): Window | undefined;
}

export function redisWindows(redis: Shared<RedisConnection>): RedisWindows {
  const { client, ask, isThere } = redis.resource;
  const limiters = new Map<string, RateLimiterRedis>();
  const seen = new LRUCache<string, Window>({ max: maxWindows });
  const find = (place: string) => {
    const window = seen.get(place);
    return window !== undefined && window.endsAt > performance.now() ? window : undefined;
  };

  function limiterOf(bucket: Bucket): RateLimiterRedis {
    const id = idOf(bucket);
    const known = limiters.get(id);
    if (known !== undefined) return known;
    // Without the library's insurance: a command that hangs would be counted there a second time when its connection is given up.
    const limiter = new RateLimiterRedis({
      storeClient: client,
      keyPrefix: `limit:${bucket.name}`,
      points: bucket.limit,
      duration: bucket.windowSeconds,
    });
    limiters.set(id, limiter);
    return limiter;
  }

  return {
    isThere,
    async count(bucket, key) {
      const limiter = limiterOf(bucket);
      const { consumedPoints, msBeforeNext } = await ask(() => limiter.consume(key)).catch(refusalOf);
      const window = { count: consumedPoints, endsAt: performance.now() + msBeforeNext };
      const place = placeOf(bucket, key);
      // Answers may overtake each other.
      if (window.count > (find(place)?.count ?? 0)) seen.set(place, window);
      return window;
    },
    lastSeen: (bucket, key) => find(placeOf(bucket, key)),
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  };
}

/** The library rejects with the state of the window when its limit is exceeded. */
function refusalOf(problem: unknown): RateLimiterRes {
  if (problem instanceof RateLimiterRes) return problem;
  throw problem;
}
