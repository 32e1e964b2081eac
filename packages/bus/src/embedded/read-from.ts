import { EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { createWake, orAborted } from '@acsp/time';
import { fromBinary } from '@bufbuild/protobuf';
import type { TakeBatch } from '../bus.js';
import { onAnnouncement } from './announcements.js';
import { pollMs } from './follow.js';
import { lastPosition, readAfter } from './stored-message.js';

interface Source extends Pick<Postgres, 'pool' | 'migrated'> {
  readonly databaseUrl: string;
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
  const { pool, migrated, databaseUrl } = source;
  const wake = createWake();
  const stopListening = onAnnouncement(databaseUrl, wake.wake);
  signal.addEventListener('abort', wake.wake);
  try {
    await orAborted(migrated, signal);
    let position = after !== undefined && BigInt(after) <= BigInt(await lastPosition(pool)) ? after : '0';
    while (!signal.aborted) {
      const messages = await readAfter(pool, position);
      position = messages.at(-1)?.position ?? position;
      if (messages.length === 0) await wake.wait(pollMs);
      else
        await take(
          messages.map(({ event }) => fromBinary(EventSchema, event)),
          position,
        );
    }
  } finally {
    stopListening();
    signal.removeEventListener('abort', wake.wake);
  }
}
