import { EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { createWake, orAborted } from '@acsp/time';
import { fromBinary } from '@bufbuild/protobuf';
import type pg from 'pg';
import type { Delivery, Subscription } from '../bus.js';
import { subjectMatcher } from '../subject.js';
import { onAnnouncement } from './announcements.js';
import { readAfter, type StoredMessage } from './stored-message.js';

/** How often a bus looks for what was published by another process. */
export const pollMs = 1_000;
const saveMs = 100;

interface Following {
  readonly take: (delivery: Delivery) => Promise<void>;
  readonly signal: AbortSignal;
}

type Follower = Pick<Postgres, 'session' | 'migrated'> & { readonly databaseUrl: string };

/** One process at a time follows a name, under its lock, and the position is saved on the connection that holds it. */
export async function followRows(follower: Follower, subscription: Subscription, following: Following): Promise<void> {
  await orAborted(follower.migrated, following.signal);
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const leading = follower.session.lead(`bus.consumer.${subscription.name}`, async (client, lost) => {
    const signal = AbortSignal.any([following.signal, lost]);
    await work(client, { ...follower, subscription, ...following, signal }).catch(fail);
  });
  await orAborted(failed, following.signal).finally(() => leading[Symbol.asyncDispose]());
}

interface Session extends Following {
  readonly databaseUrl: string;
  readonly subscription: Subscription;
}

async function work(client: pg.Client, session: Session): Promise<void> {
  const { databaseUrl, subscription, signal } = session;
  const wake = createWake();
  const stopListening = onAnnouncement(databaseUrl, wake.wake);
  signal.addEventListener('abort', wake.wake, { once: true });
  try {
    let position = await startPosition(client, subscription);
    while (!signal.aborted) {
      const messages = await readAfter(client, position);
      if (messages.length > 0) position = await takeAll(client, session, messages);
      else await wake.wait(pollMs);
    }
  } finally {
    stopListening();
  }
}

async function startPosition(client: pg.Client, { name, start }: Subscription): Promise<string> {
  const { rows } = await client.query<{ position: string }>(
    `INSERT INTO bus.consumers (name, position)
      SELECT $1, CASE WHEN $2 THEN (SELECT coalesce(max(position), 0) FROM bus.messages) ELSE 0 END
      ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING position`,
    [name, start === 'now'],
  );
  return rows[0]?.position ?? '0';
}

/** Answers the position of the last message that was taken. A process that is killed takes again what it took since the last save. */
async function takeAll(client: pg.Client, session: Session, messages: readonly StoredMessage[]): Promise<string> {
  const { subscription, take, signal } = session;
  const fits = subjectMatcher(subscription.subjects);
  const save = (position: string) =>
    client.query('UPDATE bus.consumers SET position = $2 WHERE name = $1', [subscription.name, position]);
  let taken: string | undefined;
  let savedAt = Date.now();
  try {
    for (const message of messages) {
      if (signal.aborted) break;
      if (fits(message.subject)) await take(toDelivery(message));
      taken = message.position;
      if (Date.now() - savedAt < saveMs) continue;
      await save(taken);
      savedAt = Date.now();
    }
  } finally {
    if (taken !== undefined) await save(taken);
  }
  return taken ?? String(BigInt(messages[0]?.position ?? 1) - 1n);
}

const toDelivery = ({ event, traceparent, behind }: StoredMessage): Delivery => ({
  event: fromBinary(EventSchema, event),
  trace: traceparent === null ? {} : { traceparent },
  behind,
});
