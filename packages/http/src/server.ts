import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Connections that have not sent a request yet. Browsers and fetch open some in advance, and Node does not count them as idle. */
const unused = new WeakMap<Server, Set<Socket>>();

/** Opens the server and answers its port, a free one for 0. Rejects when the port is taken. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  const sockets = new Set<Socket>();
  unused.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', ({ socket }) => sockets.delete(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Where clients of this machine reach a server: `http://127.0.0.1:4103`, `http://[::1]:4103`; an address that stands for all becomes loopback. */
export function urlOf(host: string, port: number): string {
  const dialled = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${dialled.includes(':') ? `[${dialled}]` : dialled}:${port}`;
}

/** Takes no new connection, lets running requests end, and cuts what is left after `graceMs`. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection that was busy when closing began is idle after its answer, and nobody else closes it.
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of unused.get(server) ?? []) socket.destroy();
    }, 50);
    server.close(() => {
      clearTimeout(force);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
