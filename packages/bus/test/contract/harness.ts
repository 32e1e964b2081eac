import type { ChildProcess } from 'node:child_process';
import type { Event } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { quietLog as log, spawnSource, type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { type Bus, type Consumer, startConsumer } from '../../src/index.js';
import { type Broker, connectTo } from '../brokers.js';
import { openOutbox } from '../outbox.js';
import { titleOf } from '../task-event.js';

/** A process of a service, but in this one: a bus and a session of its own on the service's database. */
export interface Replica {
  readonly bus: Bus;
  readonly database: Postgres;
  consume(options?: Partial<Consumer>): AsyncDisposable;
  /** Consumes and answers the titles that it has handled. */
  titles(options?: Partial<Consumer>): string[];
  stop(): Promise<void>;
}

export interface FailedRow {
  readonly consumer: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string;
}

export interface Harness {
  readonly broker: () => Broker;
  /** The name of the service that publishes in this test, and of its consumer. */
  readonly name: () => string;
  /** `name` shows in pg_stat_activity. */
  replica(name?: string): Replica;
  /** Another process that consumes, see consumer-process.ts. */
  spawnConsumer(order: Consumer['order']): ChildProcess;
  failedRows(): Promise<FailedRow[]>;
  /** Statements on the service's database. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** The count of the whole file, because both suites count in the metrics of one process. */
let tests = 0;

/** Registers the hooks of a suite: one broker and one database for all of its tests, replicas of their own for each. */
export function harness(start: () => Promise<Broker>): Harness {
  let broker: Broker;
  let server: TestDatabase;
  let pool: pg.Pool;
  let open: AsyncDisposable[] = [];
  let children: ChildProcess[] = [];
  const name = () => `contract-${tests}`;

  beforeAll(async () => {
    [broker, server] = await Promise.all([start(), testDatabase()]);
    pool = new pg.Pool({ connectionString: server.url, max: 2 });
    // The pool has ended before its connections have closed, which dropping the database then kills.
    pool.on('error', () => {});
  });
  beforeEach(() => {
    tests += 1;
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const each of open.reverse()) await each[Symbol.asyncDispose]();
    [open, children] = [[], []];
  });
  afterAll(async () => {
    await pool.end();
    await Promise.all([broker, server].map((each) => each[Symbol.asyncDispose]()));
  });

  const query: Harness['query'] = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows;
  return {
    name,
    broker: () => broker,
    query,
    failedRows: () => query<FailedRow>('SELECT * FROM bus.failed_event WHERE consumer = $1', [name()]),
    replica(application = 'replica') {
      const database = openOutbox(server.url, application);
      const bus = connectTo(broker.address);
      const consuming: AsyncDisposable[] = [];
      const stop = async () => {
        for (const each of [...consuming.splice(0), bus, database]) await each[Symbol.asyncDispose]();
      };
      open.push({ [Symbol.asyncDispose]: stop });
      const consume: Replica['consume'] = (options) => {
        const given = { name: name(), subjects: [`acsp.${name()}.>`], start: 'kept', order: 'strict' } as const;
        const consumer = startConsumer({ ...given, handle: async () => {}, ...options }, { database, bus, log });
        consuming.push(consumer);
        return consumer;
      };
      return { bus, database, consume, stop, titles: (options) => titles(consume, options) };
    },
    spawnConsumer(order) {
      const args = [server.url, JSON.stringify(broker.address), name(), order];
      const child = spawnSource(new URL('consumer-process.ts', import.meta.url), args, {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      return child;
    },
  };
}

function titles(consume: Replica['consume'], options: Partial<Consumer> = {}): string[] {
  const handled: string[] = [];
  const handle: Consumer['handle'] = async (event: Event, info) => {
    await options.handle?.(event, info);
    handled.push(titleOf(event) ?? '?');
  };
  consume({ ...options, handle });
  return handled;
}
