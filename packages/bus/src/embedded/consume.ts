import { EventSchema } from '@acsp/contracts/events/v1/event';
import { withAdvisoryLock } from '@acsp/database';
import { fromBinary } from '@bufbuild/protobuf';
import type pg from 'pg';
import type { Consumer } from '../bus.js';
import { deliver, type Outcome } from '../deliver.js';
import { keepRunning } from '../keep-running.js';
import { consumerLag } from '../metrics.js';
import { orAborted } from '../pause.js';
import { createRecent, type Recent } from '../recent.js';
import { subjectMatcher } from '../subject.js';
import { createWake, type Wake } from '../wake.js';
import { onAnnouncement } from './announcements.js';
import { type ConsumerRows, consumerRows } from './consumer-rows.js';
import { type Context, pollMs } from './context.js';
import { readAfter, type StoredMessage } from './stored-message.js';

const saveMs = 100;

/** A durable consumer: one instance at a time holds its lock and does the work, the others stand by. */
export function consumeRows(context: Context, consumer: Consumer): AsyncDisposable {
  const wake = createWake();
  const stopListening = onAnnouncement(context.databaseUrl, wake.wake);
  const handled = createRecent();
  const working = keepRunning(`consumer ${consumer.name}`, context.log, async (signal) => {
    await orAborted(context.migrated, signal);
    const work = (client: pg.Client) =>
      follow({ context, consumer, client, rows: consumerRows(client, consumer.name), handled, wake, signal });
    await withAdvisoryLock(context.pool, `bus.consumer.${consumer.name}`, work, { retryMs: pollMs, signal });
  });
  return {
    async [Symbol.asyncDispose]() {
      stopListening();
      const stopped = working[Symbol.asyncDispose]();
      wake.wake();
      await stopped;
    },
  };
}

interface Session {
  readonly context: Context;
  readonly consumer: Consumer;
  /** Holds the lock. */
  readonly client: pg.Client;
  readonly rows: ConsumerRows;
  readonly handled: Recent;
  readonly wake: Wake;
  readonly signal: AbortSignal;
}

async function follow(session: Session): Promise<void> {
  const { consumer, client, rows, wake, signal } = session;
  let position = await rows.start();
  while (!signal.aborted) {
    const nextRetryMs = await retryDue(session);
    const messages = await readAfter(client, position);
    if (messages.length > 0) position = await takeAll(session, messages, position);
    else await wake.wait(Math.min(pollMs, nextRetryMs));
    consumerLag.set({ consumer: consumer.name }, messages.at(-1)?.behind ?? 0);
  }
}

/** Answers the milliseconds until the next retry. */
async function retryDue(session: Session): Promise<number> {
  for (const message of await session.rows.due()) await take(session, message);
  return session.rows.untilDue();
}

/** Answers the position of the last message that was dealt with. */
async function takeAll(session: Session, messages: readonly StoredMessage[], start: string): Promise<string> {
  const { consumer, rows } = session;
  const takes = subjectMatcher(consumer.subjects);
  let position = start;
  let savedAt = Date.now();
  for (const message of messages) {
    if (takes(message.subject) && (await take(session, message)) === 'stopped') break;
    position = message.position;
    // A process that is killed handles again what it handled since. Saving after each message would cost a write for each.
    if (Date.now() - savedAt < saveMs) continue;
    await rows.save(position);
    savedAt = Date.now();
  }
  await rows.save(position);
  return position;
}

async function take(session: Session, message: StoredMessage): Promise<Outcome['result']> {
  const { context, consumer, rows, handled, signal } = session;
  const event = fromBinary(EventSchema, message.event);
  const delivery = { consumer, event, attempt: message.attempts + 1, trace: {}, log: context.log, signal };
  const outcome: Outcome = handled.has(event.id) ? { result: 'handled' } : await deliver(delivery);
  if (outcome.result === 'later') await rows.retryLater(message, outcome.delayMs);
  if (outcome.result === 'dead') await rows.bury(message, outcome.error);
  if (outcome.result !== 'handled') return outcome.result;
  handled.add(event.id);
  if (message.attempts > 0) await rows.retried(message.position);
  return 'handled';
}
