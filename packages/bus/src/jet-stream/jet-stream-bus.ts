import type { Log } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Bus } from '../bus.js';
import { createDisposables } from '../disposables.js';
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
  const running = createDisposables();
  return {
    async publish(service, events) {
      await publishTo(await connection.link(2_000), service, events);
    },
    async consume(consumer) {
      return running.add(connection.onEveryLink(`consumer ${consumer.name}`, consumeFrom(consumer, log)));
    },
    async watch(watcher) {
      return running.add(connection.onEveryLink('watcher', (link, signal) => watchOn({ link, watcher, log, signal })));
    },
    async ready() {
      const { manager } = await connection.link(0);
      await manager.getAccountInfo().catch((cause: unknown) => {
        throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker does not answer', cause });
      });
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await connection[Symbol.asyncDispose]();
    },
  };
}
