import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { taskColumns } from '../task/columns.js';
import { changedColumns, recorded } from '../task/record.js';

const batch = 200;

/**
 * An agent is gone: what it created and is not over is cancelled, its live claims are withdrawn, and what it worked on for others is open again.
 * Each statement looks for what is still to do, so that a repeated event does nothing.
 */
export async function onAgentDeleted(context: Context, event: Event): Promise<void> {
  const aid = event.payload && anyUnpack(event.payload, AgentEventSchema)?.aid;
  if (!aid) throw new Error(`event ${event.id} names no agent`);
  for (const step of [cancelCreated, withdrawClaims]) {
    while ((await step(context, aid)) === batch);
  }
}

const cancelCreated = ({ database, clock }: Context, aid: string) =>
  database.transaction(async (tx) => {
    const found = await tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM task WHERE creator_aid = ${aid} AND status IN ('open', 'claimed', 'in_progress', 'review')
      LIMIT ${batch}::int FOR UPDATE`;
    if (found.length > 0)
      await tx.$executeRaw(
        cancelStatement(
          found.map(({ id }) => id),
          clock.now(),
        ),
      );
    return found.length;
  });

const cancelStatement = (ids: readonly string[], now: Date) => Prisma.sql`
  WITH before AS (SELECT ${taskColumns('task')} FROM task WHERE id = ANY (${ids}::uuid[])),
  changed AS (
    UPDATE task SET status = 'cancelled', claims_count = (task.assigned_aid IS NOT NULL)::int
    FROM before WHERE task.id = before.id RETURNING ${changedColumns}
  ),
  touched AS (
    UPDATE claim SET status = 'rejected', resolved_at = ${now}::timestamptz
    FROM changed WHERE claim.task_id = changed.id AND claim.status = 'pending'
  ),
  ${recorded({ event: 'task.cancelled', says: 'The task was cancelled: its creator has left', now })}
  SELECT count(*) FROM changed`;

const withdrawClaims = ({ database, clock }: Context, aid: string) =>
  database.transaction(async (tx) => {
    const found = await tx.$queryRaw<{ id: string }[]>`
      SELECT task.id FROM claim JOIN task ON task.id = claim.task_id
      WHERE claim.agent_aid = ${aid} AND claim.status IN ('pending', 'accepted') AND task.status IN ('open', 'claimed', 'in_progress')
      ORDER BY task.id LIMIT ${batch}::int FOR UPDATE`;
    if (found.length > 0)
      await tx.$executeRaw(
        withdrawStatement(
          found.map(({ id }) => id),
          aid,
          clock.now(),
        ),
      );
    return found.length;
  });

/** A result under review stays: its creator can still approve it. */
const withdrawStatement = (ids: readonly string[], aid: string, now: Date) => Prisma.sql`
  WITH before AS (SELECT ${taskColumns('task')} FROM task WHERE id = ANY (${ids}::uuid[])),
  changed AS (
    UPDATE task SET
      status = 'open', claims_count = before.claims_count - 1, assigned_aid = NULL, assigned_name = NULL, claimed_at = NULL, started_at = NULL,
      expires_at = CASE
        WHEN before.status = 'in_progress' AND before.expires_at <= ${now}::timestamptz
        THEN ${now}::timestamptz + make_interval(mins => before.ttl_minutes) ELSE before.expires_at END
    FROM before WHERE task.id = before.id RETURNING ${changedColumns}
  ),
  touched AS (
    UPDATE claim SET status = 'withdrawn', resolved_at = ${now}::timestamptz
    FROM changed
    WHERE claim.task_id = changed.id AND claim.agent_aid = ${aid} AND claim.status IN ('pending', 'accepted')
  ),
  ${recorded({ event: 'task.claim_withdrawn', says: 'A claim was withdrawn: its agent has left', now })}
  SELECT count(*) FROM changed`;
