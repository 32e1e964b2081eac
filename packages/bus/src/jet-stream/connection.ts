import type { Log } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { NatsConnection } from '@nats-io/transport-node';
import { pause } from '../pause.js';
import { type Link, openLink } from './link.js';

export interface Connection extends AsyncDisposable {
  /** The present link, or the next one if it comes within two seconds; else rejects with SERVICE_UNAVAILABLE. */
  link(): Promise<Link>;
  /** Runs a task on every link until disposed. A task ends soon after its signal aborts or its link closes. */
  onEveryLink(task: (link: Link, signal: AbortSignal) => Promise<void>): AsyncDisposable;
}

/** Keeps a link to the broker, whatever happens to it. */
export function createConnection(url: string, log: Log): Connection {
  const closing = new AbortController();
  const { signal } = closing;
  let next = deferred<Link>();

  async function keepLinked(): Promise<void> {
    for (let delayMs = 50; !signal.aborted; delayMs = Math.min(delayMs * 2, 1_000)) {
      try {
        const link = await openLink(url);
        delayMs = 50;
        log.info({ server: link.nats.getServer() }, 'Connected to the broker');
        next.resolve(link);
        const reason = await closed(link.nats, signal);
        next = deferred();
        if (!signal.aborted) log.warn({ err: reason }, 'The connection to the broker was lost');
      } catch (error) {
        log.warn({ err: error, delayMs }, 'The broker cannot be used');
      }
      await pause(delayMs, signal);
    }
  }

  async function runOnEveryLink(task: (link: Link, signal: AbortSignal) => Promise<void>, ending: AbortSignal) {
    const ended = new Promise<undefined>((resolve) => ending.addEventListener('abort', () => resolve(undefined)));
    while (!ending.aborted) {
      const link = await Promise.race([next.promise, ended]);
      if (link === undefined) return;
      await task(link, ending).catch((error: unknown) => {
        if (!link.nats.isClosed()) log.warn({ err: error }, 'Work on the broker failed and begins again');
      });
      await pause(200, ending);
    }
  }

  const kept = keepLinked();
  return {
    async link() {
      const link = await Promise.race([next.promise, pause(2_000, signal)]);
      if (!link) throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker is not connected' });
      return link;
    },
    onEveryLink(task) {
      const ending = new AbortController();
      const running = runOnEveryLink(task, ending.signal);
      return {
        async [Symbol.asyncDispose]() {
          ending.abort();
          await running;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await kept;
    },
  };
}

/** Waits for the end of a connection, and brings it about when the signal aborts. */
async function closed(nats: NatsConnection, signal: AbortSignal): Promise<unknown> {
  const close = () => void nats.close();
  signal.addEventListener('abort', close);
  const reason = await nats.closed();
  signal.removeEventListener('abort', close);
  return reason;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
