import type { Event } from '@acsp/contracts/events/v1/event';
import type { Log } from '@acsp/database';
import { toAppError } from '@acsp/errors';
import { type Carrier, span } from '@acsp/telemetry';
import type { Consumer } from './bus.js';
import { deadLetters } from './metrics.js';
import { pause, within } from './pause.js';

const handlerTimeoutMs = 30_000;
const standstillMs = 60_000;

/** What became of a delivery, and what its adapter does about it. `later`: another attempt after `delayMs`. `dead`: no further attempt. */
export type Outcome =
  | { readonly result: 'handled' | 'stopped' }
  | { readonly result: 'later'; readonly delayMs: number }
  | { readonly result: 'dead'; readonly error: string };

export interface Delivery {
  readonly consumer: Consumer;
  readonly event: Event;
  /** From 1. */
  readonly attempt: number;
  readonly trace: Carrier;
  readonly log: Log;
  /** The consumer is stopping. */
  readonly signal: AbortSignal;
}

/** Hands an event to its handler and decides what follows from an error. The same for every adapter. */
export async function deliver(delivery: Delivery): Promise<Outcome> {
  const { consumer, event, attempt, trace, log, signal } = delivery;
  const attributes = { 'messaging.destination.name': consumer.name, 'acsp.event.id': event.id };
  const handle = () => withTimeout(consumer.handle(event, { attempt }));
  const givenUpAt = Date.now() + standstillMs;
  for (let delayMs = 100; !signal.aborted; delayMs = Math.min(delayMs * 2, 5_000)) {
    try {
      await span(`handle ${event.type}`, { kind: 'consumer', parent: trace, attributes }, handle);
      return { result: 'handled' };
    } catch (error) {
      // While a dependency is down the next event would fare no better. Standing still keeps the order and the attempts.
      const down = toAppError(error).code === 'SERVICE_UNAVAILABLE';
      log.warn(
        { err: error, consumer: consumer.name, event: event.id, type: event.type, attempt },
        'Event not handled',
      );
      if (!down || Date.now() >= givenUpAt) return decide(delivery, error, down);
    }
    await pause(delayMs, signal);
  }
  return { result: 'stopped' };
}

function decide({ consumer, event, attempt, log }: Delivery, cause: unknown, down: boolean): Outcome {
  const { name, maxAttempts = 8, backoffMs = [1_000, 5_000, 15_000, 60_000, 300_000] } = consumer;
  if (attempt < maxAttempts || down) {
    return { result: 'later', delayMs: backoffMs[Math.min(attempt, backoffMs.length) - 1] ?? 1_000 };
  }
  log.error({ err: cause, consumer: name, event: event.id, type: event.type, attempt }, 'Event became a dead letter');
  deadLetters.inc({ consumer: name });
  return { result: 'dead', error: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause) };
}

async function withTimeout(handled: Promise<void>): Promise<void> {
  const inTime = await within(
    handlerTimeoutMs,
    handled.then(() => true),
  );
  if (!inTime) throw new Error(`The handler took over ${handlerTimeoutMs} ms`);
}
