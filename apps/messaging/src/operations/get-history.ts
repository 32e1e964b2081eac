import { GetHistoryRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { aid, byAgent, callerAid, fieldsOf, queryInteger, time } from '@acsp/operation';
import type { Context } from '../context.js';
import { threadId } from '../direct/fields.js';
import { type MessageRow, maxContentBytes, messageColumns, presentMessage } from '../direct/present.js';
import { Prisma } from '../generated/prisma/client.js';

/** The caller's direct messages, sent and received, newest first. A page does not end inside a millisecond, because its cursor is a time. */
export const getHistory = byAgent(
  fieldsOf(GetHistoryRequestSchema)({
    aid: callerAid,
    with_aid: aid().optional(),
    thread_id: threadId.optional(),
    limit: queryInteger(1, 100).default(50),
    before: time({ code: 'INVALID_FIELD' }).optional(),
  }),
  async ({ database }: Context, { aid: _aid, ...query }, { aid }) => {
    const rows = await database.read(`history of ${aid}`, (ask) => ask<Row>(pageQuery({ ...query, own: aid })));
    const has_more = rows[0]?.has_more ?? false;
    return {
      messages: rows.map(presentMessage),
      has_more,
      cursor: has_more ? (rows.at(-1)?.created_at ?? null) : null,
    };
  },
);

type Row = MessageRow & { readonly has_more: boolean };

interface Page {
  readonly own: string;
  readonly with_aid?: string | null | undefined;
  readonly thread_id?: string | null | undefined;
  readonly before?: Date | null | undefined;
  readonly limit: number;
}

/**
 * The page reads both directions by an index each, up to its limit and all that share the last millisecond. Of contents beyond 1 MiB it keeps the
 * newest milliseconds, at least one. The limit is hidden from the planner in a subquery: a plan for a limit that it sees
 * seems cheaper than one for any, so it would plan every page anew. Nor is there a star, with which a statement stays unprepared.
 */
function pageQuery({ own, with_aid, thread_id, before, limit }: Page): Prisma.Sql {
  const some = Prisma.sql`ORDER BY created_at DESC FETCH FIRST (SELECT ${limit}::int) ROWS WITH TIES`;
  const conditions = (mine: string, theirs: string) => {
    const all = [Prisma.sql`${Prisma.raw(mine)} = ${own}`];
    if (with_aid != null) all.push(Prisma.sql`${Prisma.raw(theirs)} = ${with_aid}`);
    if (thread_id != null) all.push(Prisma.sql`thread_id = ${thread_id}`);
    if (before != null) all.push(Prisma.sql`created_at < ${before}::timestamptz`);
    return Prisma.join(all, ' AND ');
  };
  const [sent, received] = [conditions('from_aid', 'to_aid'), conditions('to_aid', 'from_aid')];
  const older = Prisma.sql`created_at < (SELECT min(created_at) FROM page)`;
  return Prisma.sql`
    WITH found AS (
      (SELECT ${columns} FROM message WHERE ${sent} ${some}) UNION ALL (SELECT ${columns} FROM message WHERE ${received} ${some})
    ),
    measured AS (
      SELECT ${columns}, max(created_at) OVER () AS newest, sum(octet_length(content)) OVER (ORDER BY created_at DESC) AS bytes
      FROM (SELECT ${columns} FROM found ${some}) AS newest_first
    ),
    page AS (SELECT ${columns} FROM measured WHERE bytes <= ${maxContentBytes}::int OR created_at = newest)
    SELECT ${columns}, EXISTS (SELECT FROM message WHERE ${sent} AND ${older}) OR EXISTS (SELECT FROM message WHERE ${received} AND ${older}) AS has_more
    FROM page ORDER BY created_at DESC, id DESC`;
}

const columns = Prisma.raw(messageColumns);
