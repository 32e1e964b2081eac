import type { Event } from '@acsp/contracts/events/v1/event';
import { toAppError } from '@acsp/errors';
import { type Carrier, type Log, span } from '@acsp/telemetry';
import { pause, within } from '@acsp/time';
import type { Consumer } from './consumer.js';
import { attempts as attemptCounter } from './metrics.js';

const handlerTimeoutMs = 30_000;
/** The backoff while a dependency is down grows from the first pause to the longest one. */
const [firstPauseMs, longestPauseMs] = [100, 5_000];

export interface Attempt {
  readonly event: Event;
  /** Failures so far. */
  readonly attempts: number;
  /** The event has a row among the failed ones, perhaps without a failure: put aside in an outage, or replayed. */
  readonly recorded: boolean;
  readonly trace?: Carrier;
}

export interface Limits {
  /** How long an outage is waited for. */
  readonly giveUpAt: number;
  readonly signal: AbortSignal;
}

/** The error says that a dependency is down: the handler is not at fault. */
export const isOutage = (error: unknown): boolean => toAppError(error).code === 'SERVICE_UNAVAILABLE';

/**
 * Answers the error of the handler, or undefined. During an outage it calls the handler again and again, until `giveUpAt`.
 * Rejects when the signal aborts first: a handler that is aborted has not failed.
 */
export async function handleEvent(
  { consumer, log }: { readonly consumer: Consumer; readonly log: Log },
  attempt: Attempt,
  { signal, giveUpAt }: Limits,
): Promise<unknown> {
  const { id, type } = attempt.event;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal.throwIfAborted();
    const error = await handleOnce(consumer, attempt, signal);
    if (error === undefined) {
      attemptCounter.inc({ consumer: consumer.name, outcome: 'handled' });
      return undefined;
    }
    signal.throwIfAborted();
    const outage = isOutage(error);
    attemptCounter.inc({ consumer: consumer.name, outcome: outage ? 'unavailable' : 'failed' });
    const fields = { err: error, consumer: consumer.name, event: id, type, attempt: attempt.attempts + 1 };
    if (!outage) log.warn(fields, 'an event was not handled');
    else if (pauseMs === firstPauseMs) log.warn(fields, 'an event waits for a dependency');
    if (!outage || Date.now() >= giveUpAt) return error;
    await pause(pauseMs, signal);
  }
}

async function handleOnce({ name, handle }: Consumer, { event, attempts, trace }: Attempt, signal: AbortSignal) {
  const attributes = { 'messaging.destination.name': name, 'acsp.event.id': event.id };
  const options = { kind: 'consumer', attributes, ...(trace !== undefined && { parent: trace }) } as const;
  // AbortSignal.any leaks on Node 20: each call leaves some bytes at the signal of the process.
  const ending = new AbortController();
  const abort = () => ending.abort(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    const handled = span(`handle ${event.type}`, options, async () => {
      await handle(event, { attempt: attempts + 1, signal: ending.signal });
    });
    const outcome = handled.then(
      () => undefined,
      (error: unknown) => error ?? new Error('The handler rejected with nothing'),
    );
    // A handler that takes too long is at fault itself: its DeadlineError is no outage, as one of its own may be.
    return await within(handlerTimeoutMs, `The handler of ${name}`, outcome).catch(({ message }) => new Error(message));
  } finally {
    signal.removeEventListener('abort', abort);
    ending.abort();
  }
}
