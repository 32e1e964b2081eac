import type { Batch, BatchStatement } from '@acsp/database';
import type { PostgresConnection } from './connect-postgres.js';
import { fromText, toText } from './postgres-text.js';
import type { Schedules } from './store.js';

interface Source extends Pick<PostgresConnection, 'pool'> {
  readonly batch: Batch;
  /** Runs a command on a server that may be away. */
  readonly attempt: <T>(command: () => Promise<T>) => Promise<T>;
  readonly prefix: string;
}

/** Schedules in a table, whose times are those of PostgreSQL's clock. */
export function postgresSchedules({ pool, batch, attempt, prefix }: Source): Schedules {
  const membersOf = (text: string, values: unknown[]) =>
    attempt(async () =>
      (await pool.query<{ member: string }>(text, values)).rows.map(({ member }) => fromText(member)),
    );
  return {
    async schedule(name, member, dueInSeconds) {
      const input = { schedule: toText(prefix + name), member: toText(member), due_ms: dueInSeconds * 1000 };
      await attempt(() => batch(scheduleStatement, input));
    },
    due: (name, limit) => membersOf(dueStatement, [toText(prefix + name), limit]),
    unschedule: (name, members) => membersOf(unscheduleStatement, [toText(prefix + name), members.map(toText)]),
  };
}

interface Input {
  readonly schedule: string;
  readonly member: string;
  readonly due_ms: number;
}

const scheduleStatement: BatchStatement<Input, unknown> = {
  name: 'store schedule',
  columns: { schedule: 'text', member: 'text', due_ms: 'float8' },
  key: ({ schedule, member }) => `${schedule} ${member}`,
  text: `INSERT INTO store.schedule (schedule, member, due_at)
  SELECT schedule, member, now() + due_ms * interval '1 millisecond' FROM input
  ON CONFLICT (schedule, member) DO UPDATE SET due_at = excluded.due_at RETURNING schedule || ' ' || member AS key`,
};

const dueStatement =
  'SELECT member FROM store.schedule WHERE schedule = $1 AND due_at <= now() ORDER BY due_at LIMIT $2';

/** A row that is being scheduled anew is waited for and looked at again. Rows are locked in the order of batches, so that neither deadlocks. */
const unscheduleStatement = `WITH chosen AS (
    SELECT schedule, member FROM store.schedule WHERE schedule = $1 AND member = ANY ($2::text[]) AND due_at <= now()
    ORDER BY member FOR UPDATE
  )
  DELETE FROM store.schedule USING chosen
  WHERE schedule.schedule = chosen.schedule AND schedule.member = chosen.member RETURNING schedule.member`;
