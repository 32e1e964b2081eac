import type { Event } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { toAppError } from '@acsp/errors';
import { type Carrier, type Log, span } from '@acsp/telemetry';
import { createWake, keepRunning, orAborted, pause, within } from '@acsp/time';
import type { Bus, Delivery } from './bus.js';
import { type FailedEvents, failedEvents } from './failed-events.js';
import { attempts as attemptCounter, consumerLag, deadLetters } from './metrics.js';

/** Handles events of the bus in a service. Source: design, section "Events". */
export interface Consumer {
  /** `tasks-agent-deleted`: service and purpose. The position belongs to the name. */
  readonly name: string;
  /** NATS patterns: `acsp.tasks.>`, `acsp.*.agent.deleted`. */
  readonly subjects: readonly string[];
  /** From its first deployment on, or from all that the bus still has: indexes and caches only. */
  readonly start: 'now' | 'kept';
  /**
   * `strict`: one replica works at a time, and an event that fails holds up those behind it until it is handled or given up. `parallel`: every
   * replica works, and an event that fails comes again later.
   */
  readonly order: 'strict' | 'parallel';
  /**
   * Idempotent, because an event may come again; at most 30 s, then its signal aborts. An error counts as an attempt, but SERVICE_UNAVAILABLE means
   * a dependency that is down: the consumer stands still and nothing is used up.
   */
  readonly handle: (event: Event, info: { readonly attempt: number; readonly signal: AbortSignal }) => Promise<void>;
  /** After so many failures an event becomes a dead letter; 8 when absent. */
  readonly maxAttempts?: number;
  /** The pause after each failure, the last one repeated; from a second to five minutes when absent. */
  readonly backoffMs?: readonly number[];
}

export interface ConsumerOptions {
  /** Of the service, with the outbox's tables. */
  readonly database: Pick<Postgres, 'pool' | 'session' | 'migrated'>;
  readonly bus: Bus;
  readonly log: Log;
}

const handlerTimeoutMs = 30_000;
/** How long a parallel consumer stands still for one event before it goes on with others. */
const standstillMs = 60_000;
const pollMs = 5_000;

export function startConsumer(consumer: Consumer, { database, bus, log }: ConsumerOptions): AsyncDisposable {
  const { name, subjects, start, order } = consumer;
  const failed = failedEvents(database.pool, name);
  const retried = createWake();
  const work: Work = { consumer, failed, log, retry: retried.wake };
  const subscription = { name, subjects, start, exclusive: order === 'strict' };
  const follow = async (signal: AbortSignal) => {
    await orAborted(database.migrated, signal);
    await bus.follow(subscription, (delivery) => take(work, delivery, signal), signal);
    consumerLag.remove({ consumer: name });
  };
  const following =
    order === 'strict'
      ? database.session.lead(`consumer ${name}`, (_client, signal) => follow(signal))
      : keepRunning(`consumer ${name}`, log, follow);
  const retrying = keepRunning(`retries of ${name}`, log, async (signal) => {
    await orAborted(database.migrated, signal);
    while (!signal.aborted) {
      const due = await failed.takeDue();
      if (due === undefined) await retried.wait(Math.min(pollMs, Math.max(1, await failed.untilDue())));
      else await handleOnce(work, due, signal);
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      const stopped = [following, retrying].map((running) => running[Symbol.asyncDispose]());
      retried.wake();
      await Promise.all(stopped);
    },
  };
}

interface Work {
  readonly consumer: Consumer;
  readonly failed: FailedEvents;
  readonly log: Log;
  /** Looks for retries that are due. */
  readonly retry: () => void;
}

interface Attempt {
  readonly event: Event;
  /** Failures so far. */
  readonly attempts: number;
  readonly trace?: Carrier;
}

/** Resolves once the event is handled, put aside or given up; rejects when the signal comes first, so that the event comes again. */
async function take(work: Work, { event, trace, behind }: Delivery, signal: AbortSignal): Promise<void> {
  consumerLag.set({ consumer: work.consumer.name }, behind);
  if (work.consumer.order === 'parallel') return handleOnce(work, { event, attempts: 0, trace }, signal);
  for (let attempts = await work.failed.attempts(event); ; attempts += 1) {
    const error = await tryHandle(work, { event, attempts, trace }, signal);
    if (error === undefined) return attempts > 0 ? work.failed.forget(event) : undefined;
    const failure = failureOf(work.consumer, attempts + 1, error);
    const state = failure.state === 'dead' ? 'dead' : 'blocking';
    await work.failed.record(event, { ...failure, state });
    if (state === 'dead') return bury(work, event, error);
    await pause(failure.delayMs, signal);
    signal.throwIfAborted();
  }
}

async function handleOnce(work: Work, attempt: Attempt, signal: AbortSignal): Promise<void> {
  const { event, attempts } = attempt;
  const givenUpAt = Date.now() + standstillMs;
  const error = await tryHandle(work, attempt, signal, givenUpAt);
  if (error === undefined) return attempts > 0 ? work.failed.forget(event) : undefined;
  const down = isDown(error);
  const failure = failureOf(work.consumer, attempts + (down ? 0 : 1), error);
  await work.failed.record(event, failure);
  if (failure.state === 'dead') bury(work, event, error);
  else work.retry();
}

function failureOf({ maxAttempts = 8, backoffMs = [1_000, 5_000, 15_000, 60_000, 300_000] }: Consumer, attempts: number, cause: unknown) {
  const delayMs = backoffMs[Math.min(Math.max(attempts, 1), backoffMs.length) - 1] ?? 1_000;
  const error = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const state = attempts >= maxAttempts && !isDown(cause) ? ('dead' as const) : ('waiting' as const);
  return { state, attempts, error, delayMs };
}

function bury({ consumer, log }: Work, { id, type }: Event, error: unknown): void {
  log.error({ err: error, consumer: consumer.name, event: id, type }, 'an event became a dead letter');
  deadLetters.inc({ consumer: consumer.name });
}

const isDown = (error: unknown) => toAppError(error).code === 'SERVICE_UNAVAILABLE';

/** Answers the error of the handler. While a dependency is down it tries again, for as long as `until`, and uses up no attempt. */
async function tryHandle(work: Work, attempt: Attempt, signal: AbortSignal, until = Number.POSITIVE_INFINITY): Promise<unknown> {
  const { consumer, log } = work;
  const { id, type } = attempt.event;
  let reported = false;
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5_000)) {
    signal.throwIfAborted();
    try {
      await handle(consumer, attempt, signal);
      attemptCounter.inc({ consumer: consumer.name, outcome: 'handled' });
      return undefined;
    } catch (error) {
      const down = isDown(error);
      const fields = { err: error, consumer: consumer.name, event: id, type, attempt: attempt.attempts + 1 };
      if (!reported) log.warn(fields, down ? 'an event waits for a dependency' : 'an event was not handled');
      reported = true;
      attemptCounter.inc({ consumer: consumer.name, outcome: down ? 'unavailable' : 'failed' });
      if (!down || Date.now() >= until) return error;
    }
    await pause(delayMs, signal);
  }
}

async function handle({ name, handle }: Consumer, { event, attempts, trace }: Attempt, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const info = { attempt: attempts + 1, signal: AbortSignal.any([signal, late.signal]) };
  const attributes = { 'messaging.destination.name': name, 'acsp.event.id': event.id };
  const options = { kind: 'consumer', attributes, ...(trace !== undefined && { parent: trace }) } as const;
  try {
    await span(`handle ${event.type}`, options, () => {
      return within(handlerTimeoutMs, `The handler of ${name}`, handle(event, info)).catch((error) => {
        // A handler that takes too long is at fault itself: its error is no outage.
        throw error?.code === 'ETIMEDOUT' && error.name === 'DeadlineError' ? new Error(error.message) : error;
      });
    });
  } finally {
    late.abort();
  }
}
