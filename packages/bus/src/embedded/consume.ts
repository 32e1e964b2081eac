import { EventSchema } from '@acsp/contracts/events/v1/event';
import { withAdvisoryLock } from '@acsp/database';
import { fromBinary } from '@bufbuild/protobuf';
import type pg from 'pg';
import type { Consumer } from '../bus.js';
import { deliver, type Outcome } from '../deliver.js';
import { keepRunning } from '../keep-running.js';
import { consumerLag } from '../metrics.js';
import { orAborted } from '../pause.js';
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
  // How far this instance has come, which an outage may have kept from being saved.
  const progress = { position: '0' };
  const working = keepRunning(`consumer ${consumer.name}`, context.log, async (signal) => {
    await orAborted(context.migrated, signal);
    signal.addEventListener('abort', wake.wake, { once: true });
    const work = (client: pg.Client) =>
      follow({ context, consumer, client, rows: consumerRows(client, consumer.name), progress, wake, signal });
    await withAdvisoryLock(context.pool, `bus.consumer.${consumer.name}`, work, { retryMs: pollMs, signal });
  });
  return {
    async [Symbol.asyncDispose]() {
      stopListening();
      await working[Symbol.asyncDispose]();
    },
  };
}

interface Session {
  readonly context: Context;
  readonly consumer: Consumer;
  /** Holds the lock. */
  readonly client: pg.Client;
  readonly rows: ConsumerRows;
  readonly progress: { position: string };
  readonly wake: Wake;
  readonly signal: AbortSignal;
}

async function follow(session: Session): Promise<void> {
  const { consumer, client, rows, progress, wake, signal } = session;
  const saved = await rows.start();
  if (BigInt(saved) > BigInt(progress.position)) progress.position = saved;
  while (!signal.aborted) {
    const nextRetryMs = await retryDue(session);
    const messages = await readAfter(client, progress.position);
    if (messages.length > 0) await takeAll(session, messages);
    else await wake.wait(Math.min(pollMs, nextRetryMs));
    consumerLag.set({ consumer: consumer.name }, messages.at(-1)?.behind ?? 0);
  }
}

/** Answers the milliseconds until the next retry. */
async function retryDue(session: Session): Promise<number> {
  for (const message of await session.rows.due()) await take(session, message);
  return session.rows.untilDue();
}

async function takeAll(session: Session, messages: readonly StoredMessage[]): Promise<void> {
  const { consumer, rows, progress } = session;
  const takes = subjectMatcher(consumer.subjects);
  let savedAt = Date.now();
  for (const message of messages) {
    if (takes(message.subject) && (await take(session, message)) === 'stopped') break;
    progress.position = message.position;
    // A process that is killed handles again what it handled since. Saving after each message would cost a write for each.
    if (Date.now() - savedAt < saveMs) continue;
    await rows.save(progress.position);
    savedAt = Date.now();
  }
  await rows.save(progress.position);
}

async function take({ context, consumer, rows, signal }: Session, message: StoredMessage): Promise<Outcome['result']> {
  const event = fromBinary(EventSchema, message.event);
  const attempt = message.attempts + 1;
  const outcome = await deliver({ consumer, event, attempt, trace: {}, log: context.log, signal });
  if (outcome.result === 'later') await rows.retryLater(message, outcome.delayMs);
  if (outcome.result === 'dead') await rows.bury(message, outcome.error);
  if (outcome.result === 'handled' && message.attempts > 0) await rows.retried(message.position);
  return outcome.result;
}
