import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

// A process of its own that holds thousands of streams: bare sockets, which share one buffer to read into. Its parent gives orders one by one.

/** A message of the parent. */
export type ClientOrder =
  | {
      readonly kind: 'open';
      readonly port: number;
      /** Sources, so that their ports suffice. */
      readonly localAddress: string;
      /** A request each, as it goes over the wire. */
      readonly requests: readonly string[];
    }
  /** Counts the streams on which a text comes. */
  | { readonly kind: 'count'; readonly text: string }
  | { readonly kind: 'close' };

/** The answers, one an order: `opened`, how many are open, or how many have the text. */
export interface ClientAnswer {
  readonly streams: number;
  /** On the clock of process.hrtime, which all processes share: when the last one had it. */
  readonly lastMs: number;
  readonly cpuUs: number;
}

const [attempts, retryMs] = [6, 500];
const openMs = 120_000;
const countMs = 60_000;
const sockets = new Set<Socket>();
let sought: Buffer | undefined;
let unseen = new Set<Socket>();
let onAll = () => {};

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const buffer = Buffer.allocUnsafe(2 ** 16);

/** A busy machine refuses some at first (503). */
async function openPatiently(port: number, localAddress: string, request: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(port, localAddress, request);
    } catch (error) {
      if (attempt === attempts) throw error;
      await pause(retryMs * attempt);
    }
  }
}

function open(port: number, localAddress: string, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let head: string | undefined = '';
    const callback = (length: number, bytes: Uint8Array) => {
      const chunk = (bytes as Buffer).subarray(0, length);
      if (head !== undefined) {
        head += chunk.toString('latin1');
        if (!head.includes('event: connected')) {
          if (!head.startsWith('HTTP/1.1 200')) socket.destroy();
          return true;
        }
        head = undefined;
        resolve();
      } else if (sought !== undefined && unseen.has(socket) && chunk.includes(sought)) {
        unseen.delete(socket);
        if (unseen.size === 0) onAll();
      }
      return true;
    };
    const socket = connect({ host: '127.0.0.1', port, localAddress, onread: { buffer, callback } });
    sockets.add(socket);
    socket.once('error', reject).once('close', () => {
      sockets.delete(socket);
      reject(new Error(`closed: ${head}`));
    });
    socket.write(request);
  });
}

async function obey(order: ClientOrder): Promise<ClientAnswer> {
  const before = process.cpuUsage();
  if (order.kind === 'open') {
    const opening = order.requests.map((request) => openPatiently(order.port, order.localAddress, request));
    await Promise.race([Promise.all(opening), late(openMs, 'opening')]);
  }
  if (order.kind === 'close') for (const socket of sockets) socket.destroy();
  if (order.kind === 'count') {
    sought = Buffer.from(order.text);
    unseen = new Set(sockets);
    process.send?.('ready');
    await Promise.race([
      new Promise<void>((resolve) => {
        onAll = resolve;
      }),
      late(countMs, `${unseen.size} of ${sockets.size} streams`),
    ]);
  }
  const { user, system } = process.cpuUsage(before);
  return { streams: sockets.size, lastMs: nowMs(), cpuUs: user + system };
}

function late(ms: number, what: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`too late: ${what}`)), ms).unref();
  });
}

process.on('disconnect', () => process.exit(0));
for (;;) {
  const [order] = await once(process, 'message');
  process.send?.(await obey(order as ClientOrder));
}
