import type { Log } from '@acsp/telemetry';
import { keepRunning } from './keep-running.js';
import { orAborted, pause } from './pause.js';
import { within } from './within.js';

/** A live connection. Once lost it stays lost: work on it begins again on the next one. */
export interface Link<T> {
  readonly value: T;
  /** Aborts when the connection is lost or closed. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/** A connection that is made again whenever it is lost, until disposed. */
export interface Reconnecting<T> extends AsyncDisposable {
  /** The present connection, or the next one if it comes within `waitMs`; else rejects with a DeadlineError. */
  current(waitMs: number): Promise<T>;
  /** Runs a task on every connection until disposed; its signal aborts with the connection too. */
  onEvery(name: string, task: (value: T, signal: AbortSignal) => Promise<void>): AsyncDisposable;
}

export interface ReconnectingOptions<T> {
  /** The name of the server, in log lines. */
  readonly name: string;
  readonly open: () => Promise<Link<T>>;
  readonly log: Log;
}

export function reconnecting<T>({ name, open, log }: ReconnectingOptions<T>): Reconnecting<T> {
  const closing = new AbortController();
  const { signal } = closing;
  let link: Link<T> | undefined;
  /** Always of a connection that is still to come: one that has been made may be lost before its link is forgotten. */
  let next = deferred<Link<T>>();
  let away = false;

  async function keepConnected(): Promise<void> {
    for (let delayMs = 50; !signal.aborted; delayMs = Math.min(delayMs * 2, 1_000)) {
      try {
        link = await open();
        delayMs = 50;
        if (away) log.info({ server: name }, 'a connection is back');
        away = false;
        next.resolve(link);
        next = deferred();
        await orAborted(aborted(link.lost), signal);
        if (signal.aborted) await link.close();
        else if (!away) log.warn({ server: name, err: link.lost.reason }, 'a connection was lost');
        away = true;
        link = undefined;
      } catch (error) {
        // One line an outage, not one an attempt.
        if (!away && !signal.aborted) log.warn({ server: name, err: error }, 'a server cannot be reached');
        away = true;
      }
      await pause(delayMs * (0.5 + Math.random()), signal);
    }
  }

  const kept = keepConnected();
  const present = () => (link === undefined || link.lost.aborted ? next.promise : Promise.resolve(link));
  return {
    current: async (waitMs) => (await within(waitMs, `A connection to ${name}`, present())).value,
    onEvery: (task, work) =>
      keepRunning(task, log, async (ending) => {
        const found = await orAborted(present(), ending);
        if (found !== undefined) await work(found.value, AbortSignal.any([ending, found.lost]));
      }),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await kept;
    },
  };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
