import type { Logger } from '@acsp/service';
import { createStore } from '@acsp/store';

/**
 * The idempotency keys whose requests are in flight. Losing one breaks no promise, because the service that commits a second request finds the key
 * in its own table. So memory is enough, and Redis only lets other gateways refuse early.
 */
export interface Running extends AsyncDisposable {
  /** False where a request with this key is in flight already. */
  begin(key: string): Promise<boolean>;
  end(key: string): Promise<void>;
}

export interface RunningOptions {
  readonly redisUrl: string | undefined;
  /** How long a service may stay silent. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

export function createRunning({ redisUrl, timeoutMs, log }: RunningOptions): Running {
  const own = new Set<string>();
  const shared =
    redisUrl === undefined ? undefined : createStore({ redisUrl, prefix: 'gateway:running:', onOutage: 'memory', log });
  // A gateway that dies while a request is in flight blocks the key no longer than a service may stay silent.
  const ttlSeconds = timeoutMs / 1000 + 1;
  return {
    async begin(key) {
      if (own.has(key)) return false;
      own.add(key);
      if (shared === undefined || (await shared.add(key, '', ttlSeconds).catch(() => true))) return true;
      own.delete(key);
      return false;
    },
    async end(key) {
      own.delete(key);
      await shared?.delete(key).catch(() => {});
    },
    async [Symbol.asyncDispose]() {
      await shared?.[Symbol.asyncDispose]();
    },
  };
}
