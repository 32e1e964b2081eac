import { Prisma } from '../generated/prisma/client.js';
import { columnList } from './columns.js';

/** What is known of a change besides the rows that it changes, in a part named `before` and, through changedColumns, in `changed`. */
export interface Happening {
  /** The agent that acted; null when the service did. */
  readonly aid: string | null;
  /** Text of the thread's system message. */
  readonly says: string;
  /** What the agent added in its own words. */
  readonly note: string | null;
  readonly at: Date;
  /** Of what the change leaves behind. */
  readonly message_id: string;
  readonly event_id: string;
}

export const happeningColumns = {
  aid: 'text',
  says: 'text',
  note: 'text',
  at: 'timestamptz',
  message_id: 'uuid',
  event_id: 'uuid',
} as const satisfies Record<keyof Happening, string>;

/** The same for a change that the service itself makes on many tasks at once. */
export const ownHappening = (says: string, now: Date) => Prisma.sql`
  NULL::text AS aid, ${says}::text AS says, NULL::text AS note, ${now}::timestamptz AS at, uuid_v7() AS message_id, uuid_v7() AS event_id`;

/** What a system message says, with what the agent added. */
export const withComment = (text: string, comment: string | undefined): string =>
  comment === undefined ? text : `${text}: ${comment}`;

/** The columns that `changed` must return: the task after the change, what of it was different before, and the happening. */
export const changedColumns = Prisma.sql`
  task.id, task.title, task.status, task.creator_aid, task.assigned_aid, task.target_aid, task.max_claims,
  before.status AS previous_status, before.assigned_aid AS previous_assigned_aid,
  ${columnList(happeningColumns, 'before')}`;

/** What a change is called and says, as SQL over `changed`. */
export interface RecordSql {
  /** Type of the event and of the log entry. */
  readonly event: Prisma.Sql;
  /** Text of the system message; what the happening says when absent. */
  readonly says?: Prisma.Sql;
  /** The claim that it is about. */
  readonly claimId?: Prisma.Sql;
}

/**
 * What every change leaves behind, as further parts of the statement that makes it: the thread's system message, the log entry and the event.
 * Reads the changed tasks from a part named `changed`.
 */
export function recorded({ event, says = Prisma.sql`changed.says`, claimId = noClaim }: RecordSql): Prisma.Sql {
  return Prisma.sql`
    posted AS (
      INSERT INTO message (id, task_id, sender_name, msg_type, content, metadata, created_at)
      SELECT changed.message_id, changed.id, 'acsp', 'system', ${says},
        jsonb_strip_nulls(jsonb_build_object('event', ${event}, 'actor_aid', changed.aid, 'comment', changed.note)), changed.at
      FROM changed
    ),
    logged AS (
      INSERT INTO log_entry (task_id, event, actor_aid, from_status, to_status, claim_id, note, created_at)
      SELECT changed.id, ${event}, changed.aid, previous_status, changed.status, ${claimId}, changed.note, changed.at FROM changed
    ),
    told AS (${eventRow({ event, claimId })})`;
}

/** The event for creator, assignee (also the former one), target and live claimers: one row for each of `changed`. */
export const eventRow = ({ event, claimId = noClaim }: RecordSql): Prisma.Sql => Prisma.sql`
  INSERT INTO bus.outbox (id, type, occurred_at, audience, actor, payload)
  SELECT changed.event_id, ${event}, changed.at, ${audience}, changed.aid, ${payload(claimId)} FROM changed`;

const noClaim = Prisma.sql`NULL::uuid`;

/** Where a task takes one claim, the claimer is the assigned agent, and claims need not be looked at. */
const audience = Prisma.sql`ARRAY(
  SELECT DISTINCT 'agent:' || member
  FROM unnest(
    ARRAY[changed.creator_aid, changed.assigned_aid, changed.previous_assigned_aid, changed.target_aid, changed.aid]
    || CASE WHEN changed.max_claims > 1 THEN
      ARRAY(SELECT agent_aid FROM claim WHERE claim.task_id = changed.id AND claim.status IN ('pending', 'accepted'))
    END
  ) AS member
  WHERE member IS NOT NULL)`;

/** An acsp.tasks.v1.TaskEvent in the JSON form of proto. */
const payload = (claimId: Prisma.Sql) => Prisma.sql`jsonb_strip_nulls(jsonb_build_object(
  'task_id', changed.id, 'title', changed.title, 'previous_status', changed.previous_status, 'status', changed.status,
  'creator_aid', changed.creator_aid, 'assigned_aid', changed.assigned_aid, 'target_aid', changed.target_aid,
  'claim_id', ${claimId}, 'actor_aid', changed.aid, 'message_id', changed.message_id))`;
