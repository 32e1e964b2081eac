import { EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { createWake, orAborted } from '@acsp/time';
import { fromBinary } from '@bufbuild/protobuf';
import type { TakeBatch } from '../bus.js';
import { onAnnouncement } from './announcements.js';
import { pollMs } from './follow.js';
import { pageSize, type StoredMessages } from './stored-messages.js';

interface Source extends Pick<Postgres, 'migrated'> {
  readonly databaseUrl: string;
  readonly messages: StoredMessages;
}

interface Reading {
  readonly take: TakeBatch;
  readonly signal: AbortSignal;
}

export async function readRowsFrom(
  source: Source,
  after: string | undefined,
  { take, signal }: Reading,
): Promise<void> {
  const { messages, migrated, databaseUrl } = source;
  const wake = createWake();
  const stopListening = onAnnouncement(databaseUrl, wake.wake);
  signal.addEventListener('abort', wake.wake);
  try {
    await orAborted(migrated, signal);
    let position = after !== undefined && BigInt(after) <= BigInt(await messages.last()) ? after : '0';
    while (!signal.aborted) {
      const page = await messages.after(position);
      position = page.at(-1)?.position ?? position;
      const events = page.map(({ event }) => fromBinary(EventSchema, event));
      if (events.length > 0) await take(events, position);
      if (events.length < pageSize) await wake.wait(pollMs);
    }
  } finally {
    stopListening();
    signal.removeEventListener('abort', wake.wake);
  }
}
