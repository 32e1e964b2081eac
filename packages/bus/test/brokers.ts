import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@acsp/local';
import { ownNats } from '@acsp/testkit';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { type Bus, embeddedBus, jetStreamBus } from '../src/index.js';
import { quietLog as log } from './quiet-log.js';

/** A broker that a test has for itself. */
export interface Broker extends AsyncDisposable {
  /** Another bus on it; for the broker one like those of other processes. */
  connect(): Bus;
  /** For `createBus` in another process. */
  readonly address: { natsUrl?: string; databaseUrl: string };
  deadLetters(consumer: string): Promise<number>;
  /** All that it holds is gone. */
  lose(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** On the same port with the same data. */
  restart(): Promise<void>;
}

export async function natsBroker(): Promise<Broker> {
  const nats = await ownNats();
  async function ask<T>(question: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await connect({ servers: nats.url });
    try {
      return await question(await jetstreamManager(connection));
    } finally {
      await connection.close();
    }
  }
  return {
    connect: () => jetStreamBus({ url: nats.url, log }),
    address: { natsUrl: nats.url, databaseUrl: '' },
    async deadLetters(consumer) {
      const options = { subjects_filter: `dead.${consumer}.>` };
      const { state } = await ask(({ streams }) => streams.info('DEAD', options));
      return Object.keys(state.subjects ?? {}).length;
    },
    async lose() {
      await ask(async ({ streams }) => {
        for (const name of ['EVENTS', 'DEAD']) await streams.delete(name);
      });
      await nats.restart();
    },
    kill: () => nats.kill(),
    restart: () => nats.restart(),
    [Symbol.asyncDispose]: () => nats[Symbol.asyncDispose](),
  };
}

export async function postgresBroker(): Promise<Broker> {
  const dataDir = await mkdtemp(join(tmpdir(), 'acsp-bus-'));
  // With fsync: without it a killed server forgets what it has confirmed.
  let server = await startPostgres({ dataDir });
  const { port } = server;
  const url = server.url('bus');
  await server.ensureDatabase('bus');
  const kill = async () => {
    process.kill(server.pid, 'SIGKILL');
    await server[Symbol.asyncDispose]();
  };
  async function execute(text: string, values: unknown[] = []): Promise<number> {
    const client = new pg.Client(url);
    await client.connect();
    const { rowCount } = await client.query(text, values);
    await client.end();
    return rowCount ?? 0;
  }
  return {
    connect: () => embeddedBus({ databaseUrl: url, log }),
    address: { databaseUrl: url },
    deadLetters: (consumer) => execute('SELECT FROM bus.dead_letters WHERE consumer = $1', [consumer]),
    lose: async () => void (await execute('TRUNCATE bus.messages, bus.consumers CASCADE')),
    kill,
    async restart() {
      server = await startPostgres({ dataDir, port });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
