import type { ChildProcess } from 'node:child_process';
import type { Event } from '@acsp/contracts/events/v1/event';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import type { Postgres } from '@acsp/database';
import { eventually, quietLog as log, spawnSource, type TestDatabase, testDatabase } from '@acsp/testkit';
import { type Bus, startConsumer, startRelay } from '../src/index.js';
import type { Relay } from '../src/relay.js';
import { type Broker, connectTo } from './brokers.js';
import { emitTask, openOutbox } from './outbox.js';
import { titleOf } from './task-event.js';

export interface RelayHarness<B extends Broker = Broker> {
  readonly broker: () => B;
  readonly bus: () => Bus;
  /** The database of the service whose outbox is published. */
  readonly database: () => Postgres;
  /** A relay on the session of `database`, or as a replica on a session of its own. */
  relay(options?: { readonly publish?: Bus['publish']; readonly database?: Postgres }): Relay;
  /** Another process on the service's database, disposed after the test. */
  replica(application: string): Postgres;
  /** A relay in a process of its own, which may be told where to kill itself. */
  relayProcess(point?: string): ChildProcess;
  /** The titles of this test's events, as a consumer handles them. */
  consumed(prefix: string): string[];
  emitAll(titles: readonly string[]): Promise<void>;
}

/** Registers the hooks of a suite: one broker and one outbox, which is empty before each test. */
export function relayHarness<B extends Broker>(start: () => Promise<B>): RelayHarness<B> {
  let broker: B;
  let bus: Bus;
  let server: TestDatabase;
  let database: Postgres;
  let open: AsyncDisposable[] = [];
  let children: ChildProcess[] = [];
  let consumers = 0;

  const opened = <T extends AsyncDisposable>(disposable: T): T => {
    open.push(disposable);
    return disposable;
  };

  beforeAll(async () => {
    [broker, server] = await Promise.all([start(), testDatabase()]);
    bus = connectTo(broker.address);
    database = openOutbox(server.url);
    await database.migrated;
    await eventually(() => bus.ready());
  });
  beforeEach(async () => {
    await database.pool.query('TRUNCATE bus.outbox');
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const each of open.reverse()) await each[Symbol.asyncDispose]();
    [open, children] = [[], []];
  });
  afterAll(async () => {
    for (const each of [bus, database, server, broker]) await each[Symbol.asyncDispose]();
  });

  return {
    broker: () => broker,
    bus: () => bus,
    database: () => database,
    replica: (application) => opened(openOutbox(server.url, application)),
    relay({ publish = bus.publish, database: own = database } = {}) {
      const payloads = { task: TaskEventSchema };
      return opened(startRelay({ database: own, bus: { ...bus, publish }, service: 'tasks', payloads, log }));
    },
    relayProcess(point = '') {
      const args = [server.url, JSON.stringify(broker.address), point];
      const file = new URL('relay-process.ts', import.meta.url);
      const child = spawnSource(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      return child;
    },
    consumed(prefix) {
      const titles: string[] = [];
      const named = { name: `relay-test${++consumers}`, subjects: ['acsp.tasks.>'] };
      const handle = async (event: Event) => {
        const title = titleOf(event) ?? '?';
        if (title.startsWith(prefix)) titles.push(title);
      };
      opened(startConsumer({ ...named, start: 'kept', order: 'strict', handle }, { database, bus, log }));
      return titles;
    },
    async emitAll(titles) {
      for (const title of titles) await emitTask(database.pool, title);
    },
  };
}

export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
