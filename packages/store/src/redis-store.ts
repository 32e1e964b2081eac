import { AppError } from '@acsp/errors';
import type { Redis } from 'ioredis';
import type { Store } from './store.js';

/** A store in Redis, under a prefix. Whatever goes wrong is SERVICE_UNAVAILABLE. */
export function redisStore(redis: Redis, prefix: string): Store {
  const attempt = async <T>(command: Promise<T>): Promise<T> => {
    try {
      return await command;
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', { cause });
    }
  };
  return {
    get: async (key) => (await attempt(redis.get(prefix + key))) ?? undefined,
    async set(key, value, ttlSeconds) {
      await attempt(redis.set(prefix + key, value, 'EX', ttlSeconds));
    },
    add: async (key, value, ttlSeconds) =>
      (await attempt(redis.set(prefix + key, value, 'EX', ttlSeconds, 'NX'))) === 'OK',
    take: async (key) => (await attempt(redis.getdel(prefix + key))) ?? undefined,
    async delete(key) {
      await attempt(redis.del(prefix + key));
    },
    async ready() {
      await attempt(redis.ping());
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect();
    },
  };
}
