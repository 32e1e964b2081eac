import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Systems take the ports of outgoing connections from 32768 on (Linux) or 49152 on: a free port there may be gone a moment later. */
const [first, count] = [20_000, 12_000];
const attempts = 50;

/** A TCP port of 127.0.0.1 that nobody listens on at this moment. Somebody may be quicker: callers try again with another. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = await listenOnce(first + Math.floor(Math.random() * count)).catch(() => undefined);
    if (port !== undefined) return port;
  }
  return listenOnce(0);
}

async function listenOnce(wanted: number): Promise<number> {
  const probe = createServer().listen(wanted, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
