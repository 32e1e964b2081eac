import { Redis } from 'ioredis';

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** How long a command may take; behind a user's request there is no time for more. */
const commandTimeoutMs = 250;

/**
 * A connection that never queues: while Redis is away a command fails at once, and while it hangs within 250 ms. It comes back by itself; each
 * change is logged once.
 */
export function connectRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
  });
  let up: boolean | undefined;
  const change = (now: boolean, note: () => void) => {
    if (up !== now) note();
    up = now;
  };
  redis.on('ready', () => change(true, () => log.info({}, 'Redis is there')));
  redis.on('error', (error) => change(false, () => log.warn({ err: error }, 'Redis is away')));
  redis.on('close', () => change(false, () => log.warn({}, 'Redis is away')));
  return redis;
}
