import { Prisma } from '../generated/prisma/client.js';
import type { ThreadStatus } from '../generated/prisma/enums.js';
import { isLive, statuses } from './decide.js';
import type { Cursor } from './list-cursor.js';
import { threadColumns } from './present.js';

export interface List {
  readonly aid: string;
  /** Absent: threads of every status. */
  readonly status?: ThreadStatus | null | undefined;
  readonly limit: number;
  /** Absent: the first page. */
  readonly after?: Cursor | undefined;
  readonly now: Date;
}

/**
 * The newest threads of an agent, each with the total. Each range of rows is read in the order of the list by its index, no further than the page
 * reaches; then they are merged. No thread has the same agent on both sides, so ranges do not overlap.
 */
export function listQuery({ aid, status, limit, after, now }: List): Prisma.Sql {
  const sides = ['initiator_aid', 'responder_aid'].map((side) => Prisma.sql`${Prisma.raw(side)} = ${aid}`);
  const ranges = sides.flatMap((side) =>
    rangesOf(status, now).map((range) => Prisma.sql`FROM thread WHERE ${side} AND ${range}`),
  );
  const behind =
    after === undefined
      ? Prisma.empty
      : Prisma.sql`AND (created_at, id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`;
  const pages = ranges.map(
    (range) => Prisma.sql`(SELECT ${columns} ${range} ${behind} ${newestFirst} LIMIT ${limit}::int)`,
  );
  const all = ranges.map((range) => Prisma.sql`SELECT ${range}`);
  return Prisma.sql`
    SELECT ${columns}, (SELECT count(*)::int FROM (${Prisma.join(all, ' UNION ALL ')}) AS found) AS total
    FROM (${Prisma.join(pages, ' UNION ALL ')}) AS page ${newestFirst} LIMIT ${limit}::int`;
}

const columns = Prisma.raw(threadColumns);
const newestFirst = Prisma.raw('ORDER BY created_at DESC, id DESC');

/** Conditions on rows that have a status as everybody sees it: a thread that ran out counts as expired before its row says so. */
function rangesOf(status: ThreadStatus | null | undefined, now: Date): Prisma.Sql[] {
  const rowsOf = (one: ThreadStatus) => Prisma.sql`status = ${one}::thread_status`;
  if (status == null) return statuses.map(rowsOf);
  if (status === 'expired')
    return [rowsOf(status), Prisma.sql`status IN ('open', 'negotiating') AND expires_at <= ${now}::timestamptz`];
  return [isLive(status) ? Prisma.sql`${rowsOf(status)} AND expires_at > ${now}::timestamptz` : rowsOf(status)];
}
