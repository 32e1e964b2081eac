import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import type { Postgres } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { injectTrace, span } from '@acsp/telemetry';
import { within } from '@acsp/time';
import { toBinary } from '@bufbuild/protobuf';
import { subjectOf } from '../subject.js';
import { announce } from './announcements.js';

const startMs = 2_000;

/**
 * The statement takes the lock before it takes positions, so positions follow the order of commits. The sort puts the lock first. The commit waits
 * for the disk: followers get the messages from memory, and after a crash their positions must not be taken again.
 */
const insert = `INSERT INTO bus.messages (id, subject, event, traceparent)
  SELECT id, subject, event, $4
  FROM (SELECT pg_advisory_xact_lock(hashtext('bus.messages'))) AS lock,
    unnest($1::uuid[], $2::text[], $3::bytea[]) WITH ORDINALITY AS batch (id, subject, event, ordinal)
  ORDER BY ordinal
  ON CONFLICT (id) DO NOTHING
  RETURNING position`;

interface Publisher extends Pick<Postgres, 'pool' | 'migrated'> {
  readonly databaseUrl: string;
}

export async function publishRows(publisher: Publisher, service: string, events: readonly Event[]): Promise<void> {
  const { pool, migrated, databaseUrl } = publisher;
  try {
    await span(`publish ${service}`, { kind: 'producer' }, async () => {
      const carrier: Record<string, string> = {};
      injectTrace(carrier);
      const traceparent = carrier.traceparent ?? null;
      const rows = events.map((event) => ({
        subject: subjectOf(service, event.type),
        event: Buffer.from(toBinary(EventSchema, event)),
        traceparent,
      }));
      const values = [
        events.map(({ id }) => id),
        rows.map(({ subject }) => subject),
        rows.map(({ event }) => event),
        traceparent,
      ];
      // The tables are missing at the first start only; afterwards the promise has resolved.
      await within(startMs, 'Migrating the bus', migrated);
      const inserted = await pool.query<{ position: string }>({ name: 'publish', text: insert, values });
      const positions = inserted.rows.map(({ position }) => position);
      // Ids that the table has already answer no position, so rows and positions cannot be paired.
      const isPaired = positions.length === rows.length;
      announce(databaseUrl, isPaired ? rows.map((row, index) => ({ ...row, position: positions[index] ?? '' })) : []);
    });
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The bus did not take the events', cause });
  }
}
