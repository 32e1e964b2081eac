import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { connectRedis, type Log, type RedisConnection } from './connect-redis.js';

/** A fixed window: so many calls in each `windowSeconds`, which start with the first call. */
export interface Bucket {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface Consumed {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export interface RateLimiter extends AsyncDisposable {
  /** Counts one call of `key`. While Redis is away or hangs, this process counts for itself. Never rejects. */
  consume(bucket: Bucket, key: string): Promise<Consumed>;
}

export interface RateLimiterOptions {
  /** Absent: counted in memory. Stores and rate limiters with the same URL share one connection. */
  readonly redisUrl?: string;
  readonly log: Log;
}

type Count = (key: string) => Promise<RateLimiterRes>;

export function createRateLimiter({ redisUrl, log }: RateLimiterOptions): RateLimiter {
  const redis = redisUrl === undefined ? undefined : connectRedis(redisUrl, log);
  const counters = new Map<string, Count>();

  function counterOf(bucket: Bucket): Count {
    const id = `${bucket.name}:${bucket.limit}:${bucket.windowSeconds}`;
    const known = counters.get(id);
    if (known !== undefined) return known;
    const count = redis === undefined ? countInMemory(bucket) : countInRedis(bucket, redis);
    counters.set(id, count);
    return count;
  }

  return {
    async consume(bucket, key) {
      try {
        return consumed(true, bucket, await counterOf(bucket)(key));
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return consumed(false, bucket, refused);
        throw refused;
      }
    },
    async [Symbol.asyncDispose]() {
      await redis?.[Symbol.asyncDispose]();
    },
  };
}

const options = ({ name, limit, windowSeconds }: Bucket) => ({
  keyPrefix: `limit:${name}`,
  points: limit,
  duration: windowSeconds,
});

function countInMemory(bucket: Bucket): Count {
  const memory = new RateLimiterMemory(options(bucket));
  return (key) => memory.consume(key);
}

function countInRedis(bucket: Bucket, { client, ask }: RedisConnection): Count {
  const inMemory = countInMemory(bucket);
  const shared = new RateLimiterRedis({
    ...options(bucket),
    storeClient: client,
    // A caller who was refused is refused here until its window ends: a flood does not reach Redis.
    inMemoryBlockOnConsumed: bucket.limit + 1,
  });
  // Not the library's insurance: a command that hangs would be counted there a second time when its connection is given up.
  return (key) =>
    ask(() => shared.consume(key)).catch((problem) => {
      if (problem instanceof RateLimiterRes) throw problem;
      return inMemory(key);
    });
}

const consumed = (
  allowed: boolean,
  { limit }: Bucket,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): Consumed => ({
  allowed,
  limit,
  remaining: allowed ? remainingPoints : 0,
  resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
});
