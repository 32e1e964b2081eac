import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@acsp/local';
import { ownNats } from '@acsp/testkit';
import { jetstreamManager } from '@nats-io/jetstream';
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
  /** SIGKILL. */
  kill(): Promise<void>;
  /** On the same port with the same data. */
  restart(): Promise<void>;
}

export async function natsBroker(): Promise<Broker> {
  const nats = await ownNats();
  return {
    connect: () => jetStreamBus({ url: nats.url, log }),
    address: { natsUrl: nats.url, databaseUrl: '' },
    async deadLetters(consumer) {
      const connection = await connect({ servers: nats.url });
      const manager = await jetstreamManager(connection);
      const { state } = await manager.streams.info('DEAD', { subjects_filter: `dead.${consumer}.>` });
      await connection.close();
      return Object.keys(state.subjects ?? {}).length;
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
  return {
    connect: () => embeddedBus({ databaseUrl: url, log }),
    address: { databaseUrl: url },
    async deadLetters(consumer) {
      const client = new pg.Client(url);
      await client.connect();
      const { rowCount } = await client.query('SELECT FROM bus.dead_letters WHERE consumer = $1', [consumer]);
      await client.end();
      return rowCount ?? 0;
    },
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
