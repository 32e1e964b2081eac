import { AppError } from '@acsp/errors';
import type { Redis } from 'ioredis';
import type { RedisConnection } from './connect-redis.js';
import { type MemoryKeys, memoryKeys, toMs } from './memory-keys.js';
import type { Store } from './store.js';

interface RedisStoreOptions {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly onOutage: 'memory' | 'fail';
}

/**
 * A store in Redis. A command that fails, for whatever reason, is SERVICE_UNAVAILABLE, or with `onOutage: 'memory'` is done in this process.
 * What was written there stays valid here and moves to Redis at its return.
 */
export function redisStore({ redis, prefix, onOutage }: RedisStoreOptions): Store {
  const { client } = redis;
  const spare = onOutage === 'memory' ? memoryKeys() : undefined;

  async function attempt<T>(command: () => Promise<T>, instead: (spare: MemoryKeys) => T): Promise<T> {
    try {
      return await redis.ask(command);
    } catch (problem) {
      if (spare === undefined) throw new AppError('SERVICE_UNAVAILABLE', { cause: withoutCommand(problem) });
      return instead(spare);
    }
  }

  const moveSpare = () => void (spare && move(spare, client, prefix));
  client.on('ready', moveSpare);

  return {
    async get(key) {
      const command = async () => (await client.get(prefix + key)) ?? undefined;
      return spare?.get(key) ?? attempt(command, (keys) => keys.get(key));
    },
    async set(key, value, ttlSeconds) {
      // Before the command is sent, so that a move can't follow it with the old value.
      spare?.delete(key);
      await attempt<unknown>(
        () => client.set(prefix + key, value, 'PX', toMs(ttlSeconds)),
        (keys) => keys.set(key, value, ttlSeconds),
      );
    },
    async add(key, value, ttlSeconds) {
      if (spare?.has(key)) return false;
      const command = () => client.set(prefix + key, value, 'PX', toMs(ttlSeconds), 'NX');
      return attempt(
        async () => (await command()) === 'OK',
        (keys) => keys.add(key, value, ttlSeconds),
      );
    },
    async take(key) {
      // From both: a write that timed out may have arrived all the same.
      const spared = spare?.take(key);
      const command = async () => (await client.getdel(prefix + key)) ?? undefined;
      const stored = await attempt(command, () => undefined);
      return spared ?? stored;
    },
    async delete(key) {
      spare?.delete(key);
      await attempt<unknown>(
        () => client.del(prefix + key),
        () => undefined,
      );
    },
    async ready() {
      await attempt<unknown>(
        () => client.ping(),
        () => undefined,
      );
    },
    async [Symbol.asyncDispose]() {
      client.off('ready', moveSpare);
      await redis[Symbol.asyncDispose]();
    },
  };
}

/** An error of ioredis carries the command, and its arguments may be secrets, which logs must not see. */
const withoutCommand = (problem: unknown) => new Error(problem instanceof Error ? problem.message : 'Redis failed');

/**
 * Each key leaves the spare in the moment in which it is sent, and commands arrive in the order in which they were sent:
 * so at every moment one of the two places has it. What fails here is lost.
 */
async function move(spare: MemoryKeys, client: Redis, prefix: string): Promise<void> {
  while (spare.size > 0 && client.status === 'ready') {
    const pipeline = client.pipeline();
    for (const { key, value, ttlMs } of spare.drain(500)) pipeline.set(prefix + key, value, 'PX', ttlMs);
    await pipeline.exec().catch(() => {});
  }
}
