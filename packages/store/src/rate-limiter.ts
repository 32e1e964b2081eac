import { type IRateLimiterOptions, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { connectRedis, type Log } from './connect-redis.js';

/** A fixed window: so many calls in each `windowSeconds`. */
export interface Bucket {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface Consumed {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export interface RateLimiter extends AsyncDisposable {
  /** Counts one call of `key`. While Redis is away or hangs, this process counts for itself. */
  consume(bucket: Bucket, key: string): Promise<Consumed>;
}

export interface RateLimiterOptions {
  /** Absent: counted in memory. */
  readonly redisUrl?: string | undefined;
  readonly log: Log;
}

type Counter = RateLimiterMemory | RateLimiterRedis;

export function createRateLimiter({ redisUrl, log }: RateLimiterOptions): RateLimiter {
  const redis = redisUrl === undefined ? undefined : connectRedis(redisUrl, log);
  const counters = new Map<string, Counter>();

  function counterOf({ name, limit, windowSeconds }: Bucket): Counter {
    const options: IRateLimiterOptions = { keyPrefix: `limit:${name}`, points: limit, duration: windowSeconds };
    const memory = new RateLimiterMemory(options);
    if (redis === undefined) return memory;
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      insuranceLimiter: memory,
      rejectIfRedisNotReady: true,
    });
  }

  return {
    async consume(bucket, key) {
      let counter = counters.get(bucket.name);
      if (counter === undefined) {
        counter = counterOf(bucket);
        counters.set(bucket.name, counter);
      }
      try {
        return answer(true, await counter.consume(key));
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return answer(false, refused);
        throw refused;
      }
    },
    async [Symbol.asyncDispose]() {
      redis?.disconnect();
    },
  };
}

const answer = (allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Consumed => ({
  allowed,
  remaining: Math.max(0, remainingPoints),
  resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
});
