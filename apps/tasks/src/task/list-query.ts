import { Prisma } from '../generated/prisma/client.js';
import type { TaskPriority, TaskStatus } from '../generated/prisma/enums.js';
import { summaryColumns } from './columns.js';
import { orders, readCursor, type Sort } from './list-order.js';
import { expiring, includes } from './state.js';

/** Filters and place of a page. */
export interface ListQuery {
  /** Comma-separated. */
  readonly status: string;
  readonly priority?: TaskPriority | undefined;
  readonly parent_id?: string | undefined;
  readonly created_by?: string | undefined;
  readonly assigned_to?: string | undefined;
  readonly workspace_id?: string | undefined;
  readonly sort: Sort;
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/**
 * A page and one row more, which says whether there are more. Each status is read in the order of the list by an index of its own, and no further
 * than the page reaches; then they are merged.
 */
export function pageQuery(query: ListQuery, now: Date): Prisma.Sql {
  const order = orderBy(query.sort);
  const reach = Prisma.sql`LIMIT ${query.offset + query.limit + 1}::int`;
  const branches = statusesOf(query.status, now).map(
    (status) => Prisma.sql`(SELECT ${columns} FROM task WHERE ${Prisma.join(conditions(query, status), ' AND ')} ORDER BY ${order} ${reach})`,
  );
  const [only] = branches;
  const rows = branches.length === 1 && only !== undefined ? only : Prisma.sql`(${Prisma.join(branches, ' UNION ALL ')})`;
  return Prisma.sql`SELECT ${columns} FROM ${rows} AS task ORDER BY ${order} LIMIT ${query.limit + 1}::int OFFSET ${query.offset}::int`;
}

/** How many tasks pass the filters; no more than `limit`, where there is one. */
export function countQuery(query: ListQuery, now: Date, limit?: number): Prisma.Sql {
  const all = { ...query, cursor: undefined };
  const branches = statusesOf(query.status, now).map(
    (status) => Prisma.sql`(SELECT FROM task WHERE ${Prisma.join(conditions(all, status), ' AND ')} ${limit === undefined ? Prisma.empty : Prisma.sql`LIMIT ${limit}::int`})`,
  );
  return Prisma.sql`SELECT count(*)::int AS total FROM (${Prisma.join(branches, ' UNION ALL ')}) AS found`;
}

const columns = Prisma.raw(summaryColumns);

function orderBy(sort: Sort): Prisma.Sql {
  const { column, descending } = orders[sort];
  return Prisma.raw(`${column} ${descending ? 'DESC' : 'ASC'}, id`);
}

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
  if (query.cursor !== undefined) parts.push(behind(query.sort, query.cursor));
  return parts;
}

function behind(sort: Sort, text: string): Prisma.Sql {
  const { column: name, type, descending } = orders[sort];
  const cursor = readCursor(sort, text);
  const [column, comparison] = [Prisma.raw(name), Prisma.raw(descending ? '<' : '>')];
  const value = Prisma.sql`${cursor?.value}::text::${Prisma.raw(type)}`;
  return Prisma.sql`(${column} ${comparison}= ${value} AND (${column} ${comparison} ${value} OR id > ${cursor?.id}::uuid))`;
}
