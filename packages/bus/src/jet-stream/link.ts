import { AppError } from '@acsp/errors';
import type { Link } from '@acsp/time';
import { type JetStreamClient, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { ensureStreams } from './streams.js';

/** A live connection to the broker, with the streams in place. */
export interface NatsLink {
  readonly nats: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

const options = {
  timeout: 5_000,
  // An outage that closes no connection is noticed within six seconds.
  pingInterval: 2_000,
  maxPingOut: 2,
  // The library's reconnect would send what was published during an outage although what came before it was lost with the connection.
  // Without it the broker has got everything up to some event and nothing after that one, and publishing again keeps the order.
  reconnect: false,
  noAsyncTraces: true,
};

/**
 * The servers of `nats://user:password@host:4222`, `nats://token@host`, `tls://…`, or a host and perhaps a port; those of a cluster are separated by
 * commas. Throws where one is no such URL.
 */
export function natsServers(url: string): URL[] {
  const texts = url.split(',').map((text) => text.trim());
  return texts.filter((text) => text !== '').map(serverOf);
}

function serverOf(text: string): URL {
  const server = new URL(text.includes('://') ? text : `nats://${text}`);
  if (server.hostname === '' || !/^(nats|tls):$/.test(server.protocol)) throw new Error('No URL of a NATS server');
  return server;
}

/** `url`: see natsServers. */
export async function openLink(url: string): Promise<Link<NatsLink>> {
  const servers = natsServers(url);
  const { username, password, protocol } = servers[0] as URL;
  const nats = await connect({
    ...options,
    servers: servers.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    ...(password ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(username && !password ? { token: decodeURIComponent(username) } : {}),
    ...(protocol === 'tls:' ? { tls: {} } : {}),
  });
  try {
    const manager = await jetstreamManager(nats, { timeout: 5_000 });
    await ensureStreams(manager);
    const lost = new AbortController();
    void nats.closed().then((reason) => lost.abort(reason));
    return {
      value: { nats, manager, client: manager.jetstream() },
      lost: lost.signal,
      close: () => nats.close(),
    };
  } catch (error) {
    await nats.close();
    throw error;
  }
}

/** How long a caller waits for a connection that is being made. */
export const linkMs = 2_000;

export function asUnavailable(cause: unknown): never {
  throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker does not answer', cause });
}

/** Resolves once the broker has got what was sent before. Rejects where the connection ends first: the library's own flush would wait for ever. */
export async function flush({ nats }: NatsLink): Promise<void> {
  const closed = nats.closed().then(() => {
    throw new Error('The connection was closed');
  });
  await Promise.race([nats.flush(), closed]);
}
