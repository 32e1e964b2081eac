import { EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import type { Log } from '@acsp/telemetry';
import { createWake, keepRunning, orAborted } from '@acsp/time';
import { fromBinary } from '@bufbuild/protobuf';
import type { Watcher } from '../bus.js';
import { subjectMatcher } from '../subject.js';
import { onAnnouncement } from './announcements.js';
import { pollMs } from './follow.js';
import { pageSize, type StoredMessage, type StoredMessages } from './stored-messages.js';

interface Source extends Pick<Postgres, 'migrated'> {
  readonly databaseUrl: string;
  readonly messages: StoredMessages;
  readonly log: Log;
}

export function watchRows({ messages, migrated, databaseUrl, log }: Source, watcher: Watcher): AsyncDisposable {
  const fits = subjectMatcher(watcher.subjects);
  const wake = createWake();
  const stopListening = onAnnouncement(databaseUrl, wake.wake);

  async function follow(signal: AbortSignal): Promise<void> {
    await orAborted(migrated, signal);
    let position = await messages.last();
    let live = false;
    try {
      while (!signal.aborted) {
        const page = await messages.after(position);
        if (!live) watcher.onLive?.(true);
        live = true;
        for (const message of page) {
          if (fits(message.subject)) hand(watcher, message, log);
          position = message.position;
        }
        if (page.length < pageSize) await wake.wait(pollMs);
      }
    } finally {
      if (live) watcher.onLive?.(false);
    }
  }

  const following = keepRunning('watcher', log, follow);
  return {
    async [Symbol.asyncDispose]() {
      stopListening();
      const stopped = following[Symbol.asyncDispose]();
      wake.wake();
      await stopped;
    },
  };
}

function hand(watcher: Watcher, { subject, event }: StoredMessage, log: Log): void {
  try {
    watcher.handle(fromBinary(EventSchema, event));
  } catch (error) {
    log.error({ err: error, subject }, 'a watcher failed');
  }
}
