import type { Log } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { NatsConnection } from '@nats-io/transport-node';
import { keepRunning } from '../keep-running.js';
import { orAborted, pause, within } from '../pause.js';
import { type Link, openLink } from './link.js';

export interface Connection extends AsyncDisposable {
  /** The present link, or the next one if it comes in time; else rejects with SERVICE_UNAVAILABLE. */
  link(waitMs: number): Promise<Link>;
  /** Runs a task on every link until disposed. A task ends soon after its signal aborts or its link closes. */
  onEveryLink(name: string, task: (link: Link, signal: AbortSignal) => Promise<void>): AsyncDisposable;
}

/** Keeps a link to the broker, whatever happens to it. */
export function createConnection(url: string, log: Log): Connection {
  const closing = new AbortController();
  const { signal } = closing;
  let current: Link | undefined;
  let next = deferred<Link>();

  async function keepLinked(): Promise<void> {
    for (let delayMs = 50; !signal.aborted; delayMs = Math.min(delayMs * 2, 1_000)) {
      try {
        const link = await openLink(url);
        delayMs = 50;
        log.info({ server: link.nats.getServer() }, 'Connected to the broker');
        current = link;
        next.resolve(link);
        const reason = await closed(link.nats, signal);
        current = undefined;
        next = deferred();
        if (!signal.aborted) log.warn({ err: reason }, 'The connection to the broker was lost');
      } catch (error) {
        log.warn({ err: error, delayMs }, 'The broker cannot be used');
      }
      await pause(delayMs, signal);
    }
  }

  const kept = keepLinked();
  return {
    async link(waitMs) {
      const link = current ?? (await within(waitMs, next.promise));
      if (!link) throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The broker is not connected' });
      return link;
    },
    onEveryLink: (name, task) =>
      keepRunning(name, log, async (ending) => {
        const link = await orAborted(next.promise, ending);
        if (link !== undefined) await task(link, ending);
      }),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await kept;
    },
  };
}

/** Waits for the end of a connection, and brings it about when the signal aborts. */
async function closed(nats: NatsConnection, signal: AbortSignal): Promise<unknown> {
  const close = () => void nats.close();
  if (signal.aborted) close();
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
