import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@acsp/local';
import { quietLog as log, ownNats } from '@acsp/testkit';
import { JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { type Bus, embeddedBus, jetStreamBus } from '../src/index.js';

/** The address for another process, which connects by `connectTo`. */
export interface Address {
  readonly natsUrl?: string;
  readonly databaseUrl?: string;
}

/** The wait is short, so that the event which a killed process had in hand comes again soon. */
export const ackWaitMs = 1_000;

export function connectTo({ natsUrl, databaseUrl = '' }: Address): Bus {
  return natsUrl === undefined ? embeddedBus({ databaseUrl, log }) : jetStreamBus({ url: natsUrl, log, ackWaitMs });
}

/** A broker that a test has for itself. */
export interface Broker extends AsyncDisposable {
  readonly address: Address;
  /** Tells whether a consumer of this name has a position. */
  knows(consumer: string): Promise<boolean>;
  /** Deletes all that it holds. */
  lose(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
}

export interface NatsBroker extends Broker {
  ask<T>(question: (manager: JetStreamManager) => Promise<T>): Promise<T>;
}

export async function natsBroker(): Promise<NatsBroker> {
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
    address: { natsUrl: nats.url },
    ask,
    knows: (consumer) =>
      ask(({ consumers }) => consumers.info('EVENTS', consumer)).then(
        () => true,
        (error) => {
          if (error instanceof JetStreamApiError) return false;
          throw error;
        },
      ),
    async lose() {
      await ask(({ streams }) => streams.delete('EVENTS'));
      await nats.restart();
    },
    kill: () => nats.kill(),
    restart: () => nats.restart(),
    [Symbol.asyncDispose]: () => nats[Symbol.asyncDispose](),
  };
}

export async function postgresBroker(): Promise<Broker> {
  const dataDir = await mkdtemp(join(tmpdir(), 'acsp-bus-'));
  // The server runs with fsync: without it a killed one loses confirmed writes.
  let server = await startPostgres({ dataDir });
  const { port } = server;
  const databaseUrl = await server.ensureDatabase('bus');
  async function count(text: string, values: unknown[] = []): Promise<number> {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    try {
      return (await client.query(text, values)).rowCount ?? 0;
    } finally {
      await client.end();
    }
  }
  return {
    address: { databaseUrl },
    knows: async (consumer) => (await count('SELECT FROM bus.consumers WHERE name = $1', [consumer])) === 1,
    lose: async () => void (await count('TRUNCATE bus.messages, bus.consumers')),
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await server[Symbol.asyncDispose]();
    },
    async restart() {
      server = await startPostgres({ dataDir, port });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
