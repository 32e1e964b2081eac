import { Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import type { ListQuery } from '../operations/list-tasks.js';
import { orders, readCursor } from './list-order.js';
import { summaryColumns } from './present.js';
import { expiring, includes } from './state.js';

/**
 * A page and one row more, which says whether there are more. Each range of rows is read in the order of the list by an index of its own, no
 * further than the page reaches; then they are merged. Indexes alone say which rows these are, and only those of the page are fetched: OFFSET 0
 * keeps the planner from a join that would read the table.
 */
export function pageQuery(query: ListQuery, now: Date): Prisma.Sql {
  const { column, descending } = orders[query.sort];
  const [place, direction] = [Prisma.raw(column), Prisma.raw(descending ? 'DESC' : 'ASC')];
  const offset = query.cursor === undefined ? query.offset : 0;
  const ranges = statusesOf(query.status, now).flatMap((status) =>
    rangesBehind(query).map(
      (behind) => Prisma.sql`(
        SELECT id, place FROM (
          SELECT id, ${place} AS place FROM task WHERE ${Prisma.join([...conditions(query, status), ...behind], ' AND ')} ${fence(query)}
        ) AS range ORDER BY place ${direction}, id LIMIT ${offset + query.limit + 1}::int)`,
    ),
  );
  return Prisma.sql`SELECT json_agg(row_to_json(item)) AS items FROM (SELECT ${columns} FROM (
      SELECT id AS page_id, place FROM (${Prisma.join(ranges, ' UNION ALL ')}) AS found
      ORDER BY place ${direction}, id LIMIT ${query.limit + 1}::int OFFSET ${offset}::int
    ) AS page CROSS JOIN LATERAL (SELECT ${columns} FROM task WHERE task.id = page_id OFFSET 0) AS shown
    ORDER BY place ${direction}, page_id) AS item`;
}

/**
 * Tasks of one agent or workspace are all found in its index, and sorted, where that has another order: a plan made for any values would walk
 * through everybody's in the order of the list, and fetch each row to see whose it is.
 */
const fence = ({ sort, created_by, assigned_to, workspace_id }: ListQuery) =>
  sort !== 'created_at' && (created_by ?? assigned_to ?? workspace_id) !== undefined
    ? Prisma.raw('OFFSET 0')
    : Prisma.empty;

/** Counts the tasks that pass the filters; with a `limit` no more than that of each status. */
export function countQuery(query: ListQuery, now: Date, limit?: number): Prisma.Sql {
  const most = limit === undefined ? Prisma.empty : Prisma.sql`LIMIT ${limit}::int`;
  const ranges = statusesOf(query.status, now).map(
    (status) => Prisma.sql`(SELECT FROM task WHERE ${Prisma.join(conditions(query, status), ' AND ')} ${most})`,
  );
  return Prisma.sql`SELECT count(*)::int AS total FROM (${Prisma.join(ranges, ' UNION ALL ')}) AS found`;
}

const columns = Prisma.raw(summaryColumns);

/** A status of rows, and which of them by their time: a task that has run out counts as expired before its row says so. */
interface RowStatus {
  readonly status: TaskStatus;
  readonly time: Prisma.Sql | undefined;
}

function statusesOf(list: string, now: Date): RowStatus[] {
  const shown = list.split(',') as TaskStatus[];
  const later = Prisma.sql`expires_at > ${now}::timestamptz`;
  const over = Prisma.sql`expires_at <= ${now}::timestamptz`;
  const rows = shown.map((status) => ({ status, time: includes(expiring, status) ? later : undefined }));
  if (!shown.includes('expired')) return rows;
  const ranOut = expiring.map((status) => ({ status, time: over }));
  return [...rows, ...ranOut];
}

function conditions(query: ListQuery, { status, time }: RowStatus): Prisma.Sql[] {
  const { parent_id, priority, created_by, assigned_to, workspace_id } = query;
  const parts = [Prisma.sql`status = ${status}::task_status`];
  if (time !== undefined) parts.push(time);
  parts.push(parent_id === undefined ? Prisma.sql`parent_id IS NULL` : Prisma.sql`parent_id = ${parent_id}::uuid`);
  if (priority !== undefined) parts.push(Prisma.sql`priority = ${priority}::task_priority`);
  if (created_by !== undefined) parts.push(Prisma.sql`creator_aid = ${created_by}`);
  if (assigned_to !== undefined) parts.push(Prisma.sql`assigned_aid = ${assigned_to}`);
  if (workspace_id !== undefined) parts.push(Prisma.sql`workspace_id = ${workspace_id}::uuid`);
  return parts;
}

/**
 * The ranges behind a cursor: the rest of those that stand at its place by their ids, and all that stand behind it. One condition for both would read
 * every row at that place again, which may be most of the list: those of one priority, or those without a deadline.
 */
function rangesBehind({ sort, cursor }: ListQuery): Prisma.Sql[][] {
  const place = cursor === undefined ? undefined : readCursor(sort, cursor);
  if (place === undefined) return [[]];
  const { column, type, descending } = orders[sort];
  const [name, comparison] = [Prisma.raw(column), Prisma.raw(descending ? '<' : '>')];
  const value = Prisma.sql`${place.value}::text::${Prisma.raw(type)}`;
  return [
    [Prisma.sql`${name} = ${value}`, Prisma.sql`id > ${place.id}::uuid`],
    [Prisma.sql`${name} ${comparison} ${value}`],
  ];
}
