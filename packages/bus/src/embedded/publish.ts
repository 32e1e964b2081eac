import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { injectTrace, span } from '@acsp/telemetry';
import { within } from '@acsp/time';
import { toBinary } from '@bufbuild/protobuf';
import { subjectOf } from '../subject.js';
import { announce } from './announcements.js';

const startMs = 2_000;

/** The statement takes the lock before it takes positions, so positions follow the order of commits. The sort puts the lock first. */
const insert = `INSERT INTO bus.messages (id, subject, event, traceparent)
  SELECT id, subject, event, $4
  FROM (SELECT pg_advisory_xact_lock(hashtext('bus.messages'))) AS lock,
    unnest($1::uuid[], $2::text[], $3::bytea[]) WITH ORDINALITY AS batch (id, subject, event, ordinal)
  ORDER BY ordinal
  ON CONFLICT (id) DO NOTHING`;

interface Publisher extends Pick<Postgres, 'pool' | 'migrated'> {
  readonly databaseUrl: string;
}

export async function publishRows(publisher: Publisher, service: string, events: readonly Event[]): Promise<void> {
  const { pool, migrated, databaseUrl } = publisher;
  try {
    await span(`publish ${service}`, { kind: 'producer' }, async () => {
      const trace: Record<string, string> = {};
      injectTrace(trace);
      const values = [
        events.map((event) => event.id),
        events.map((event) => subjectOf(service, event.type)),
        events.map((event) => Buffer.from(toBinary(EventSchema, event))),
        trace.traceparent ?? null,
      ];
      // The tables are missing at the first start only; afterwards the promise has resolved.
      await within(startMs, 'Migrating the bus', migrated);
      await pool.query({ name: 'publish', text: insert, values });
    });
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The bus did not take the events', cause });
  }
  announce(databaseUrl);
}
