import { Prisma } from '../generated/prisma/client.js';

export interface Happening {
  /** Type of the event and of the log entry; as SQL over `changed` where it depends on the row. */
  readonly event: string | Prisma.Sql;
  /** Text of the thread's system message, likewise. */
  readonly says: string | Prisma.Sql;
  /** The agent that acted; absent when the service did. */
  readonly actorAid?: string;
  /** The claim that it is about, as SQL over `changed`. */
  readonly claimId?: Prisma.Sql;
  /** What the agent added in its own words. */
  readonly note?: string;
  readonly now: Date;
}

/** What a system message says, with what the agent added. */
export const withComment = (text: string, comment: string | undefined): string =>
  comment === undefined ? text : `${text}: ${comment}`;

/** The columns that `changed` must return: the task after the change, and what of it was different before. */
export const changedColumns = Prisma.sql`
  task.id, task.title, task.status, task.creator_aid, task.assigned_aid, task.target_aid, task.max_claims,
  before.status AS previous_status, before.assigned_aid AS previous_assigned_aid`;

/**
 * What every change leaves behind, as further parts of the statement that makes it: the thread's system message, the log entry and the event.
 * Reads the changed tasks from a part named `changed`.
 */
export function recorded(happening: Happening): Prisma.Sql {
  const { claimId = noClaim, note, now } = happening;
  const { event, says, actor } = literals(happening);
  const own = Prisma.sql`${note ?? null}::text`;
  const at = Prisma.sql`${now}::timestamptz`;
  return Prisma.sql`
    posted AS (
      INSERT INTO message (id, task_id, sender_name, msg_type, content, metadata, created_at)
      SELECT uuid_v7(), changed.id, 'acsp', 'system', ${says},
        jsonb_strip_nulls(jsonb_build_object('event', ${event}, 'actor_aid', ${actor}, 'comment', ${own})), ${at}
      FROM changed
      RETURNING id, task_id
    ),
    logged AS (
      INSERT INTO log_entry (task_id, event, actor_aid, from_status, to_status, claim_id, note, created_at)
      SELECT changed.id, ${event}, ${actor}, previous_status, changed.status, ${claimId}, ${own}, ${at} FROM changed
    ),
    told AS (${eventRow(happening)})`;
}

/** The event for creator, assignee (also the former one), target and live claimers: one row for each row of `posted` and its `changed`. */
export function eventRow(happening: Omit<Happening, 'says'>): Prisma.Sql {
  const { claimId = noClaim, now } = happening;
  const { event, actor } = literals({ ...happening, says: '' });
  return Prisma.sql`
    INSERT INTO bus.outbox (id, type, occurred_at, audience, actor, payload)
    SELECT uuid_v7(), ${event}, ${now}::timestamptz, ${audience(actor)}, ${actor}, ${payload(actor, claimId)}
    FROM posted JOIN changed ON changed.id = posted.task_id`;
}

const noClaim = Prisma.sql`NULL::uuid`;

const literals = ({ event, says, actorAid }: Happening) => ({
  event: typeof event === 'string' ? Prisma.sql`${event}::text` : event,
  says: typeof says === 'string' ? Prisma.sql`${says}::text` : says,
  actor: Prisma.sql`${actorAid ?? null}::text`,
});

/** Where a task takes one claim, the claimer is the assigned agent, and claims need not be looked at. */
const audience = (actor: Prisma.Sql) => Prisma.sql`ARRAY(
  SELECT DISTINCT 'agent:' || aid
  FROM unnest(
    ARRAY[changed.creator_aid, changed.assigned_aid, changed.previous_assigned_aid, changed.target_aid, ${actor}]
    || CASE WHEN changed.max_claims > 1 THEN
      ARRAY(SELECT agent_aid FROM claim WHERE claim.task_id = changed.id AND claim.status IN ('pending', 'accepted'))
    END
  ) AS aid
  WHERE aid IS NOT NULL)`;

/** An acsp.tasks.v1.TaskEvent in the JSON form of proto. */
const payload = (actor: Prisma.Sql, claimId: Prisma.Sql) => Prisma.sql`jsonb_strip_nulls(jsonb_build_object(
  'task_id', changed.id, 'title', changed.title, 'previous_status', changed.previous_status, 'status', changed.status,
  'creator_aid', changed.creator_aid, 'assigned_aid', changed.assigned_aid, 'target_aid', changed.target_aid,
  'claim_id', ${claimId}, 'actor_aid', ${actor}, 'message_id', posted.id))`;
