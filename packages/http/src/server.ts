import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Listening {
  /** 0 takes any free port. */
  readonly port: number;
  /** All addresses when absent. */
  readonly host?: string | undefined;
  /** How long running requests may go on once the server stops. */
  readonly drainMs: number;
}

/** Disposing it takes no new connection, lets running requests end, and cuts those that are left after `drainMs`. */
export interface OpenServer extends AsyncDisposable {
  readonly port: number;
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
}

/** Makes a server listen. Rejects when the port is taken. */
export async function openServer(server: Server, { port, host, drainMs }: Listening): Promise<OpenServer> {
  // Browsers and fetch open connections in advance. Node does not count one as idle before its first request.
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: urlOf(host ?? '::', bound),
    [Symbol.asyncDispose]: () => close(server, unused, drainMs),
  };
}

/** In the form in which the URL parser writes a host, whatever its spelling: `::0`, `0:0:0:0:0:0:0:0`, `::ffff:0.0.0.0`. */
const wildcards: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '[::]': '[::1]',
  '[::ffff:0:0]': '127.0.0.1',
};

/**
 * The URL for clients on this machine: `http://127.0.0.1:4103`, `http://[::1]:4103`. A wildcard address becomes loopback. An address with a zone,
 * `fe80::1%eth0`, has none that clients can open.
 */
export function urlOf(host: string, port: number): string {
  const written = host.includes(':') ? `[${host}]` : host;
  const parsed = URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : written;
  return `http://${wildcards[parsed] ?? written}:${port}`;
}

function close(server: Server, unused: ReadonlySet<Socket>, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), drainMs);
    // A connection that was busy when closing began is idle after its answer, and nobody else closes it.
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
    }, 50);
    server.close(() => {
      clearTimeout(force);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
