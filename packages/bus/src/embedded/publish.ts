import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { AppError } from '@acsp/errors';
import { span } from '@acsp/telemetry';
import { toBinary } from '@bufbuild/protobuf';
import { within } from '../pause.js';
import { subjectOf } from '../subject.js';
import { announce } from './announcements.js';
import type { Context } from './context.js';

const startMs = 2_000;

/**
 * One statement: a transaction that takes the lock, and then positions, one after the other. The sort sees to it that the lock comes first.
 */
const insert = `INSERT INTO bus.messages (id, subject, event)
  SELECT id, subject, event
  FROM (SELECT pg_advisory_xact_lock(hashtext('bus.messages'))) AS lock,
    unnest($1::uuid[], $2::text[], $3::bytea[]) WITH ORDINALITY AS batch (id, subject, event, ordinal)
  ORDER BY ordinal
  ON CONFLICT (id) DO NOTHING`;

export async function publishRows(context: Context, service: string, events: readonly Event[]): Promise<void> {
  const { pool, migrated, databaseUrl } = context;
  const values = [
    events.map((event) => event.id),
    events.map((event) => subjectOf(service, event.type)),
    events.map((event) => Buffer.from(toBinary(EventSchema, event))),
  ];
  try {
    await span(`publish ${service}`, { kind: 'producer' }, async () => {
      // Matters at the first start only: afterwards the promise is settled.
      await within(startMs, migrated);
      await pool.query({ name: 'publish', text: insert, values });
    });
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The bus did not take the events', cause });
  }
  announce(databaseUrl);
}
