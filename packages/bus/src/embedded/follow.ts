import { once } from 'node:events';
import { EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { createWake, orAborted } from '@acsp/time';
import { fromBinary } from '@bufbuild/protobuf';
import type pg from 'pg';
import type { Delivery, Subscription, Take } from '../bus.js';
import { subjectMatcher } from '../subject.js';
import { onAnnouncement } from './announcements.js';
import { pageSize, type StoredMessage, type StoredMessages } from './stored-messages.js';

/** How often a bus looks for what was published by another process. */
export const pollMs = 1_000;
/** The position is saved this often: after a kill the events of the last interval come again. */
const saveMs = 100;

const savePosition = { name: 'save-position', text: 'UPDATE bus.consumers SET position = $2 WHERE name = $1' };

interface Following {
  readonly take: Take;
  readonly signal: AbortSignal;
}

interface Follower extends Pick<Postgres, 'session' | 'migrated'> {
  readonly databaseUrl: string;
  readonly messages: StoredMessages;
}

/** One process at a time follows a name, under its lock. */
export async function followRows(follower: Follower, subscription: Subscription, following: Following): Promise<void> {
  const { databaseUrl, session, migrated, messages } = follower;
  const { take, signal } = following;
  await orAborted(migrated, signal);
  const leading = session.lead(`bus.consumer.${subscription.name}`, async (client, ended) => {
    const wake = createWake();
    const stopListening = onAnnouncement(databaseUrl, wake.wake);
    ended.addEventListener('abort', wake.wake);
    await read(client, subscription, { take, signal: ended, wait: wake.wait, after: messages.after }).finally(
      stopListening,
    );
  });
  if (!signal.aborted) await once(signal, 'abort');
  await leading[Symbol.asyncDispose]();
}

interface Reading extends Following, Pick<StoredMessages, 'after'> {
  /** Waits until another message may be there. */
  readonly wait: (timeoutMs: number) => Promise<void>;
}

async function read(client: pg.Client, { name, subjects, start }: Subscription, reading: Reading): Promise<void> {
  const { take, signal, wait, after } = reading;
  const fits = subjectMatcher(subjects);
  let position = await startPosition(client, name, start);
  let saved = { position, at: Date.now() };
  // The position is saved on the connection that holds the lock, so a process that has lost the lock cannot save one.
  const save = async () => {
    if (saved.position === position) return;
    await client.query({ ...savePosition, values: [name, position] });
    saved = { position, at: Date.now() };
  };
  try {
    while (!signal.aborted) {
      const page = await after(position);
      for (const message of page) {
        if (signal.aborted) break;
        if (fits(message.subject)) await take(toDelivery(message), signal);
        position = message.position;
        if (Date.now() - saved.at >= saveMs) await save();
      }
      if (page.length === pageSize) continue;
      if (Date.now() - saved.at >= saveMs) await save();
      await wait(saved.position === position ? pollMs : saveMs);
    }
  } finally {
    await save().catch(() => {});
  }
}

async function startPosition(client: pg.Client, name: string, start: Subscription['start']): Promise<string> {
  const { rows } = await client.query<{ position: string }>(
    `INSERT INTO bus.consumers (name, position)
      SELECT $1, CASE WHEN $2 THEN (SELECT coalesce(max(position), 0) FROM bus.messages) ELSE 0 END
      ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING position`,
    [name, start === 'now'],
  );
  return rows[0]?.position ?? '0';
}

const toDelivery = ({ event, traceparent }: StoredMessage): Delivery => ({
  event: fromBinary(EventSchema, event),
  trace: traceparent === null ? {} : { traceparent },
});
