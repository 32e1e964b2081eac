import { LRUCache } from 'lru-cache';
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
  /**
   * Counts one call of `key`. While Redis is away or hangs, this process counts for itself. Never rejects. A caller who was refused is refused
   * here until the window ends, at once and without a promise: a flood does not reach Redis.
   */
  consume(bucket: Bucket, key: string): Consumed | Promise<Consumed>;
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
  /** Callers who were refused, until their windows end. */
  const refused = new LRUCache<string, true>({ max: 100_000, ttl: 1, ttlResolution: 0 });

  function counterOf(bucket: Bucket): Count {
    const id = idOf(bucket);
    const known = counters.get(id);
    if (known !== undefined) return known;
    const count = redis === undefined ? countInMemory(bucket) : countInRedis(bucket, redis);
    counters.set(id, count);
    return count;
  }

  async function count(bucket: Bucket, key: string, place: string): Promise<Consumed> {
    try {
      return consumed(true, bucket, await counterOf(bucket)(key));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      refused.set(place, true, { ttl: Math.max(1, refusal.msBeforeNext) });
      return consumed(false, bucket, refusal);
    }
  }

  return {
    consume(bucket, key) {
      const place = `${idOf(bucket)}:${key}`;
      const leftMs = refused.getRemainingTTL(place);
      return leftMs > 0 ? consumed(false, bucket, new RateLimiterRes(0, leftMs)) : count(bucket, key, place);
    },
    async [Symbol.asyncDispose]() {
      await redis?.[Symbol.asyncDispose]();
    },
  };
}

const idOf = ({ name, limit, windowSeconds }: Bucket) => `${name}:${limit}:${windowSeconds}`;

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
  const shared = new RateLimiterRedis({ ...options(bucket), storeClient: client });
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
