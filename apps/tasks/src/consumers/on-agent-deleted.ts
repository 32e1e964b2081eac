import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { ruledColumns } from '../task/columns.js';
import { notOver } from '../task/conditions.js';
import { changedColumns, ownHappening, recorded } from '../task/record.js';

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
    const now = clock.now();
    const found = await tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM task
      WHERE creator_aid = ${aid} AND ${notOver('task', Prisma.sql`${now}::timestamptz`)}
      ORDER BY id LIMIT ${batch}::int FOR UPDATE`;
    const ids = found.map(({ id }) => id);
    if (ids.length > 0) await tx.$executeRaw(cancelStatement(ids, now));
    return ids.length;
  });

const cancelStatement = (ids: readonly string[], now: Date) => Prisma.sql`
  WITH before AS (
    SELECT ${ruledColumns('task')}, ${ownHappening('The task was cancelled: its creator has left', now)}
    FROM task WHERE id = ANY (${ids}::uuid[])
  ),
  changed AS (
    UPDATE task SET status = 'cancelled', claims_count = (task.assigned_aid IS NOT NULL)::int
    FROM before WHERE task.id = before.id RETURNING ${changedColumns}
  ),
  touched AS (
    UPDATE claim SET status = 'rejected', resolved_at = ${now}::timestamptz
    FROM changed WHERE claim.task_id = changed.id AND claim.status = 'pending'
  ),
  ${recorded({ event: Prisma.sql`'task.cancelled'` })}
  SELECT count(*) FROM changed`;

const withdrawClaims = ({ database, clock }: Context, aid: string) =>
  database.transaction(async (tx) => {
    const now = clock.now();
    // The task is named first, because it is locked first: as every other change does it, so that none stands in the way of another.
    const found = await tx.$queryRaw<{ id: string }[]>`
      SELECT task.id FROM task JOIN claim ON claim.task_id = task.id
      WHERE claim.agent_aid = ${aid} AND claim.status IN ('pending', 'accepted')
        AND (task.status = 'in_progress' OR task.status IN ('open', 'claimed') AND task.expires_at > ${now}::timestamptz)
      ORDER BY task.id LIMIT ${batch}::int FOR UPDATE`;
    const ids = found.map(({ id }) => id);
    if (ids.length > 0) await tx.$executeRaw(withdrawStatement(ids, aid, now));
    return ids.length;
  });

/** A result under review stays: its creator can still approve it. */
const withdrawStatement = (ids: readonly string[], aid: string, now: Date) => Prisma.sql`
  WITH before AS (
    SELECT ${ruledColumns('task')}, ${ownHappening('A claim was withdrawn: its agent has left', now)}
    FROM task WHERE id = ANY (${ids}::uuid[])
  ),
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
    RETURNING claim.id, claim.task_id
  ),
  ${recorded({
    event: Prisma.sql`'task.claim_withdrawn'`,
    claimId: Prisma.sql`(SELECT touched.id FROM touched WHERE touched.task_id = changed.id)`,
  })}
  SELECT count(*) FROM changed`;
