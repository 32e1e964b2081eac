import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Door extends AsyncDisposable {
  /** The server's URL, through the door. */
  readonly url: string;
  /** Bytes that the server has sent so far. */
  readonly sent: () => number;
  open(): Promise<void>;
  /** Cuts all connections and refuses new ones. */
  shut(): Promise<void>;
  /** Cuts all connections, takes new ones and never says a word on them. */
  stall(): Promise<void>;
}

/** A way to a server that a test can close. */
export async function doorTo(serverUrl: string): Promise<Door> {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port || 5432) };
  const sockets = new Set<Socket>();
  let [silent, sent] = [false, 0];
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket)));
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    if (silent) return;
    const far = keep(connect(target));
    near.pipe(far).on('close', () => near.destroy());
    far.pipe(near).on('close', () => far.destroy());
    far.on('data', (bytes) => {
      sent += bytes.length;
    });
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const listen = async (port: number) => {
    if (!server.listening) await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  url.host = `127.0.0.1:${port}`;
  const shut = async () => {
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    cut();
    await closed;
  };
  return {
    url: url.href,
    sent: () => sent,
    async open() {
      silent = false;
      cut();
      await listen(port);
    },
    shut,
    async stall() {
      silent = true;
      cut();
      await listen(port);
    },
    [Symbol.asyncDispose]: shut,
  };
}
