import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** The place of a request among those of its connection. */
export interface Turn {
  /** Resolves when the request before has been answered; undefined where none is in flight. */
  readonly wait: Promise<void> | undefined;
  /** Lets the next request go: this one's answer is finished, or its client has gone. */
  end(): void;
}

interface Place {
  readonly request: IncomingMessage;
  before: Place | undefined;
  done: boolean;
  whenDone: Promise<void> | undefined;
  resolve: () => void;
}

interface Connection {
  last: Place | undefined;
  waiting: number;
}

const connections = new WeakMap<Duplex, Connection>();
const maxWaiting = 100;

/**
 * Pipelined requests take effect in the order in which they were sent (RFC 9112, 9.3.2), although Node hands them over side by side.
 * Answers undefined for a request behind a hundred waiting ones, which has to be refused at once: refusals fill the output buffer, and then Node
 * stops reading.
 */
export function takeTurn(request: IncomingMessage): Turn | undefined {
  const connection = connections.get(request.socket) ?? { last: undefined, waiting: 0 };
  const before = connection.last?.done === false ? connection.last : undefined;
  if (before !== undefined && connection.waiting >= maxWaiting) return undefined;
  const own: Place = { request, before, done: false, whenDone: undefined, resolve: () => {} };
  connection.last = own;
  connections.set(request.socket, connection);
  return { wait: before && waitBehind(before, own, connection), end: () => end(own) };
}

async function waitBehind(before: Place, own: Place, connection: Connection): Promise<void> {
  connection.waiting += 1;
  await whenDone(before);
  connection.waiting -= 1;
  own.before = undefined;
}

/** Resolves when every request that came whole over this connection has been answered. */
export async function whenAnswered(socket: Duplex): Promise<void> {
  const last = connections.get(socket)?.last;
  const whole = last?.request.complete ? last : last?.before;
  if (whole !== undefined) await whenDone(whole);
}

function whenDone(place: Place): Promise<void> {
  if (place.done) return Promise.resolve();
  place.whenDone ??= new Promise((resolve) => {
    place.resolve = resolve;
  });
  return place.whenDone;
}

function end(place: Place): void {
  place.done = true;
  place.resolve();
}
