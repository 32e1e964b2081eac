import type { Redis } from 'ioredis';
import type { RedisConnection } from './connect-redis.js';
import { type MemoryKeys, memoryKeys, toMs } from './memory-keys.js';
import { redisSchedules } from './redis-schedules.js';
import type { Shared } from './share-by-url.js';
import type { Store } from './store.js';
import { unavailable } from './unavailable.js';

interface RedisStoreOptions {
  readonly redis: Shared<RedisConnection>;
  readonly prefix: string;
  readonly onOutage: 'memory' | 'fail';
}

/**
 * A store in Redis. A command that fails, for whatever reason, is SERVICE_UNAVAILABLE, or with `onOutage: 'memory'` is done in this process.
 * Keys written there stay valid here and move to Redis at its return.
 */
export function redisStore({ redis, prefix, onOutage }: RedisStoreOptions): Store {
  const { client, ask } = redis.resource;
  const spare = onOutage === 'memory' ? memoryKeys() : undefined;

  async function attempt<T>(command: () => Promise<T>, instead: (spare: MemoryKeys) => T): Promise<T> {
    try {
      return await ask(command);
    } catch (problem) {
      if (spare === undefined) throw unavailable(problem);
      return instead(spare);
    }
  }

  const moveSpare = () => void (spare && move(spare, client, prefix));
  client.on('ready', moveSpare);

  return {
    ...redisSchedules(redis.resource, prefix),
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

/**
 * A key leaves the spare when Redis has confirmed it, so one of the two places has it at every moment. Commands arrive in the order in which they
 * were sent, so a delete or write of the key in between follows its move. The rest stays here until Redis comes back the next time.
 */
async function move(spare: MemoryKeys, client: Redis, prefix: string): Promise<void> {
  while (spare.size > 0 && client.status === 'ready') {
    const entries = spare.oldest(500);
    const pipeline = client.pipeline();
    for (const { key, value, expiresAt } of entries) {
      pipeline.set(prefix + key, value, 'PX', Math.max(1, Math.ceil(expiresAt - performance.now())));
    }
    const answers = (await pipeline.exec().catch(() => undefined)) ?? [];
    const moved = entries.filter((_, index) => answers[index]?.[1] === 'OK');
    spare.remove(moved);
    if (moved.length < entries.length) return;
  }
}
