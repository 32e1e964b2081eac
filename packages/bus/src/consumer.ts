import type { Event } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import type { Log } from '@acsp/telemetry';
import { createTurns, createWake, keepRunning, orAborted, pause, type Turns } from '@acsp/time';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Bus, Delivery, Subscription } from './bus.js';
import { type FailedEvents, type Failure, failedEvents, type KnownFailure } from './failed-events.js';
import { type Attempt, handleEvent, isOutage, type Limits } from './handle-event.js';
import { consumerLag, createLag, deadLetters, type Lag } from './metrics.js';

/** Handles events of the bus in a service. Source: design, section "Events". */
export interface Consumer extends Omit<Subscription, 'exclusive'> {
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
  /** The database of the service, with the outbox's tables. */
  readonly database: Pick<Postgres, 'pool' | 'session' | 'migrated'>;
  readonly bus: Bus;
  readonly log: Log;
}

/** How long a parallel consumer stands still for one event before it goes on with others. */
const standstillMs = 60_000;
/** How soon an event that an operator replays is noticed. */
const pollMs = 2_000;

export function startConsumer(consumer: Consumer, options: ConsumerOptions): AsyncDisposable {
  const { name, order } = consumer;
  if (order === 'parallel')
    return keepRunning(`consumer ${name}`, options.log, (signal) => consume(consumer, options, signal));
  return options.database.session.lead(`consumer ${name}`, (_client, signal) => consume(consumer, options, signal));
}

interface Work {
  readonly consumer: Consumer;
  readonly log: Log;
  readonly failed: FailedEvents;
  /** Failures that were there when it began, whose events the bus may give once more. */
  readonly known: ReadonlyMap<string, KnownFailure>;
  /** Looks for retries that are due. */
  readonly retry: () => void;
  /** A strict order runs one handler at a time, those of replayed events included. */
  readonly inTurn: Turns;
  readonly lag: Lag;
}

/** Follows the bus and handles what is due again, until the signal. */
async function consume(
  consumer: Consumer,
  { database, bus, log }: ConsumerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name, subjects, start, order } = consumer;
  const exclusive = order === 'strict';
  await orAborted(database.migrated, signal);
  const failed = failedEvents(database.pool, name);
  const known = await failed.known();
  const due = createWake();
  const inTurn: Turns = exclusive ? createTurns() : (run) => run();
  const lag = createLag(consumerLag, { consumer: name });
  const work: Work = { consumer, log, failed, known, retry: due.wake, inTurn, lag };
  signal.addEventListener('abort', due.wake);
  lag.at(undefined);
  const retrying = keepRunning(`retries of ${name}`, log, async () => {
    while (!signal.aborted) {
      const found = await inTurn(() => handleDue(work, signal));
      if (!found) await due.wait(Math.min(pollMs, Math.max(1, await failed.untilDueMs())));
    }
  });
  try {
    await bus.follow({ name, subjects, start, exclusive }, (delivery, given) => take(work, delivery, given), signal);
  } finally {
    await retrying[Symbol.asyncDispose]();
    lag.end();
  }
}

/** Resolves once the event is handled, put aside or given up; rejects when the signal comes first, so that the event comes again. */
async function take(work: Work, { event, trace }: Delivery, signal: AbortSignal): Promise<void> {
  const { known, consumer, inTurn, lag } = work;
  const before = known.get(event.id);
  // The process ended between putting the event aside and telling the bus.
  if (before?.state === 'waiting' || before?.state === 'dead') return;
  const attempt = { event, attempts: before?.attempts ?? 0, recorded: before !== undefined, trace };
  lag.at(event.occurredAt && timestampDate(event.occurredAt));
  try {
    if (consumer.order === 'strict') await inTurn(() => handleUntilSettled(work, attempt, signal));
    else await handleOrPutAside(work, attempt, { signal, giveUpAt: Date.now() + standstillMs });
  } finally {
    lag.at(undefined);
  }
}

/** Answers false when no event is due. */
async function handleDue(work: Work, signal: AbortSignal): Promise<boolean> {
  const due = await work.failed.takeDue();
  if (due === undefined) return false;
  try {
    await handleOrPutAside(work, { ...due, recorded: true }, { signal, giveUpAt: 0 });
  } catch (error) {
    await work.failed.release(due.event);
    throw error;
  }
  return true;
}

async function handleUntilSettled(work: Work, first: Attempt, signal: AbortSignal): Promise<void> {
  for (let attempt = first; ; ) {
    const error = await handleEvent(work, attempt, { signal, giveUpAt: Number.POSITIVE_INFINITY });
    if (error === undefined) return forget(work, attempt);
    const { state, attempts, delayMs } = await recordFailure(work, attempt, { error, state: 'blocking' });
    if (state === 'dead') return;
    attempt = { ...attempt, attempts, recorded: true };
    await pause(delayMs, signal);
  }
}

async function handleOrPutAside(work: Work, attempt: Attempt, limits: Limits): Promise<void> {
  const error = await handleEvent(work, attempt, limits);
  if (error === undefined) return forget(work, attempt);
  await recordFailure(work, attempt, { error, state: 'waiting' });
  work.retry();
}

async function forget({ failed }: Work, { event, recorded }: Attempt): Promise<void> {
  if (recorded) await failed.forget(event);
}

interface Occasion {
  readonly error: unknown;
  readonly state: 'blocking' | 'waiting';
}

/** Counts the failure, unless it is an outage, and makes the event a dead letter where it was the last one. */
async function recordFailure(
  { consumer, failed, log }: Work,
  { event }: Attempt,
  { error, state }: Occasion,
): Promise<Failure> {
  const { name, maxAttempts = 8, backoffMs = [1_000, 5_000, 15_000, 60_000, 300_000] } = consumer;
  const attempts = (await failed.attempts(event)) + (isOutage(error) ? 0 : 1);
  const dead = attempts >= maxAttempts && !isOutage(error);
  const delayMs = backoffMs[Math.min(Math.max(attempts, 1), backoffMs.length) - 1] ?? 1_000;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const failure = { state: dead ? ('dead' as const) : state, attempts, error: text, delayMs };
  await failed.record(event, failure);
  if (dead) {
    log.error({ err: error, consumer: name, event: event.id, type: event.type }, 'an event became a dead letter');
    deadLetters.inc({ consumer: name });
  }
  return failure;
}
