import type { Log } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Bus } from '../bus.js';
import { createConnection } from './connection.js';
import { consumeFrom } from './consume.js';
import { publishTo } from './publish.js';
import { watchOn } from './watch.js';

export interface JetStreamBusOptions {
  /** `nats://user:password@host:4222`; the servers of a cluster separated by commas. */
  readonly url: string;
  readonly log: Log;
}

/** The bus on NATS JetStream, server 2.10 or later. */
export function jetStreamBus({ url, log }: JetStreamBusOptions): Bus {
  const connection = createConnection(url, log);
  const running = new Set<AsyncDisposable>();

  function started(work: AsyncDisposable): AsyncDisposable {
    running.add(work);
    return {
      async [Symbol.asyncDispose]() {
        running.delete(work);
        await work[Symbol.asyncDispose]();
      },
    };
  }

  return {
    async publish(service, events) {
      await publishTo(await connection.link(), service, events);
    },
    async consume(consumer) {
      const consumption = consumeFrom(consumer, log);
      return started(connection.onEveryLink(consumption));
    },
    async watch(watcher) {
      return started(connection.onEveryLink((link, signal) => watchOn({ link, watcher, log, signal })));
    },
    async ready() {
      const { manager } = await connection.link();
      await manager.getAccountInfo().catch((cause: unknown) => {
        throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker does not answer', cause });
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((work) => work[Symbol.asyncDispose]()));
      await connection[Symbol.asyncDispose]();
    },
  };
}
