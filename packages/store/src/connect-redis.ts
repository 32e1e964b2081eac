import type { Log } from '@acsp/telemetry';
import { Redis, type RedisOptions } from 'ioredis';
import { shareByUrl } from './share-by-url.js';

export interface RedisConnection extends AsyncDisposable {
  readonly client: Redis;
  /** False while the server is away. */
  isThere(): boolean;
  /** Runs a command. While the server is away it rejects at once; when no answer comes, after 250 ms, and the server counts as away. */
  ask<T>(command: () => Promise<T>): Promise<T>;
}

/** A user's request waits for the answer. */
const answerWithinMs = 250;
/** A timer that fires so late shows that this process was busy, not that Redis hangs. */
const busyMs = 50;

const options: RedisOptions = {
  connectTimeout: 1_000,
  // The handshake does not go through `ask`, and a server may accept connections and hang.
  socketTimeout: 1_000,
  disconnectTimeout: 10,
  retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1_000) * (0.75 + Math.random() / 2),
  // After a failover the old primary still answers, and refuses to write.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
  // Nothing waits for a connection, and nothing is sent twice.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // Commands of one turn of the event loop share a write: half of what a command costs.
  enableAutoPipelining: true,
};

/** This process's connection to a Redis server, shared by all who name the same URL. It comes back by itself. */
export const connectRedis = shareByUrl(open);

function open(url: string, log: Log): RedisConnection {
  const client = new Redis(url, options);
  const host = URL.canParse(url) ? new URL(url).host : undefined;
  let [away, closing, reason] = [false, false, ''];
  client.on('error', ({ message }) => {
    // Only the message: an error of ioredis carries the command, and AUTH carries the password.
    reason = message;
  });
  client.on('close', () => {
    if (!closing && !away) log.warn({ server: host, reason }, 'Redis is away');
    away = true;
  });
  client.on('ready', () => {
    if (away) log.info({ server: host }, 'Redis is back');
    away = false;
    void warnOfEviction(client, (policy) =>
      log.warn({ server: host, policy }, 'Redis evicts keys when it is full: a spent signature could be used again'),
    );
  });
  const hangs = () => {
    reason = `no answer within ${answerWithinMs} ms`;
    client.disconnect(true);
  };
  const tried = firstTry(client);
  let trying = true;
  void tried.then(() => {
    trying = false;
  });
  return {
    client,
    isThere: () => client.status === 'ready',
    ask: async (command) => {
      if (trying) await tried;
      return ask(client, command, hangs);
    },
    async [Symbol.asyncDispose]() {
      closing = true;
      await client.quit().catch(() => client.disconnect());
    },
  };
}

/** Ends with the first attempt to connect: a process that has just started must not begin with keys and counts of its own. */
const firstTry = (client: Redis) =>
  new Promise<void>((resolve) => {
    client.once('ready', resolve).once('close', resolve);
    setTimeout(resolve, answerWithinMs).unref();
  });

/** A full Redis has to refuse writes: any eviction policy may drop a spent signature. Some providers hide the setting. */
async function warnOfEviction(client: Redis, warn: (policy: string) => void): Promise<void> {
  const memory = await client.info('memory').catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction';
  if (policy !== 'noeviction' && !/^maxmemory:0\s/m.test(memory)) warn(policy);
}

async function ask<T>(client: Redis, command: () => Promise<T>, hangs: () => void): Promise<T> {
  if (client.status !== 'ready') throw new Error('Redis is away');
  const answer = command();
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const wait = () => {
      const due = performance.now() + answerWithinMs;
      timer = setTimeout(() => {
        // A process that was busy itself has read no answers meanwhile, and perhaps not even sent the command.
        if (performance.now() - due > busyMs) return wait();
        reject(new Error('Redis does not answer'));
        hangs();
      }, answerWithinMs);
    };
    wait();
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
