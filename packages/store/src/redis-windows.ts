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
  /** The present window, where Redis has said that its limit is used up. */
  usedUp(bucket: Bucket, key: string): Window | undefined;
}

export function redisWindows(redis: Shared<RedisConnection>): RedisWindows {
  const { client, ask, isThere } = redis.resource;
  const limiters = new Map<string, RateLimiterRedis>();
  const usedUp = new LRUCache<string, Window>({ max: maxWindows });

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
      if (window.count >= bucket.limit) usedUp.set(placeOf(bucket, key), window);
      return window;
    },
    usedUp(bucket, key) {
      const window = usedUp.get(placeOf(bucket, key));
      return window !== undefined && window.endsAt > performance.now() ? window : undefined;
    },
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  };
}

/** The library rejects with the state of the window when its limit is exceeded. */
function refusalOf(problem: unknown): RateLimiterRes {
  if (problem instanceof RateLimiterRes) return problem;
  throw problem;
}
