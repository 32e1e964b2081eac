import type { ListTasksRequestSchema, ListTasksResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { aid, oneOf, queryInteger, uuid } from '@acsp/http';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma, type Task } from '../generated/prisma/client.js';
import { TaskStatus } from '../generated/prisma/enums.js';
import { callerAid, priority } from '../task/fields.js';
import { toSummary } from '../task/present.js';
import { expiring, includes } from '../task/state.js';

/** One page of the tasks that pass every filter. */
export async function listTasks(context: Context, request: ListTasks) {
  const now = context.clock.now();
  const where = conditions(request, now);
  const found = await context.database.query<Row>(pageQuery(where, request));
  const rows = found.filter(({ id }) => id !== null) as Task[];
  const seen = rows.length === 0 ? 0 : request.offset + rows.length;
  const counted = found[0]?.counted ?? 0;
  const total = counted < countLimit ? counted : Math.max(seen, await countAll(context, where, request));
  return {
    tasks: rows.map((row) => toSummary(row, now)),
    total,
    hasMore: seen > 0 && seen < total,
  } satisfies MessageInitShape<typeof ListTasksResponseSchema>;
}

/** A page row; where the page is empty, one row of nulls that carries the count. */
type Row = (Task | { readonly id: null }) & { readonly counted: number };

/** Counting is most of a list's cost: up to here it is exact and of the moment, beyond it may be two seconds old. */
const countLimit = 250;

const pageQuery = (where: Prisma.Sql, { sort, limit, offset }: ListTasks) => Prisma.sql`
  WITH page AS (
    SELECT ${summaryColumns} FROM task WHERE ${where} ORDER BY ${orders[sort]} LIMIT ${limit}::int OFFSET ${offset}::int
  ),
  matching AS (SELECT count(*)::int AS counted FROM (SELECT FROM task WHERE ${where} LIMIT ${countLimit}::int) AS found)
  SELECT ${summaryColumns}, matching.counted FROM matching LEFT JOIN page ON true ORDER BY ${orders[sort]}`;

const summaryColumns = Prisma.raw(
  'id, creator_aid, creator_name, parent_id, title, description, requirements, tags, status, priority, deadline, expires_at, ' +
    'assigned_aid, claims_count, subtasks_count, created_at',
);

const orders = {
  created_at: Prisma.sql`created_at DESC, id`,
  priority: Prisma.sql`priority DESC, id`,
  deadline: Prisma.sql`deadline ASC NULLS LAST, id`,
};

async function countAll({ database, totals }: Context, where: Prisma.Sql, request: ListTasks): Promise<number> {
  const { limit: _limit, offset: _offset, sort: _sort, aid: _aid, ...filters } = request;
  const key = JSON.stringify(filters);
  let total = totals.get(key);
  if (total === undefined) {
    const query = Prisma.sql`SELECT count(*)::int AS total FROM task WHERE ${where}`;
    total = database.query<{ total: number }>(query).then(([row]) => row?.total ?? 0);
    totals.set(key, total);
    total.catch(() => totals.delete(key));
  }
  return total;
}

function conditions(filters: ListTasks, now: Date): Prisma.Sql {
  const parts = [
    hasStatus(filters.status, now),
    filters.parentId === undefined ? Prisma.sql`parent_id IS NULL` : Prisma.sql`parent_id = ${filters.parentId}::uuid`,
  ];
  if (filters.priority) parts.push(Prisma.sql`priority = ${filters.priority}::task_priority`);
  if (filters.createdBy) parts.push(Prisma.sql`creator_aid = ${filters.createdBy}`);
  if (filters.assignedTo) parts.push(Prisma.sql`assigned_aid = ${filters.assignedTo}`);
  if (filters.workspaceId) parts.push(Prisma.sql`workspace_id = ${filters.workspaceId}::uuid`);
  return Prisma.join(parts, ' AND ');
}

/** Tasks that have run out count as expired before their rows say so. Literals, because partial indexes are found by them. */
function hasStatus(status: string, now: Date): Prisma.Sql {
  const asked = new Set(status.split(','));
  const named = (list: readonly string[]) => Prisma.raw(list.map((name) => `'${name}'`).join(', '));
  const live = expiring.filter((name) => asked.has(name));
  const other = Object.keys(TaskStatus).filter((name) => asked.has(name) && !includes(expiring, name));
  const parts: Prisma.Sql[] = [];
  if (live.length > 0) parts.push(Prisma.sql`status IN (${named(live)}) AND expires_at > ${now}::timestamptz`);
  if (other.length > 0) parts.push(Prisma.sql`status IN (${named(other)})`);
  if (asked.has('expired'))
    parts.push(Prisma.sql`status IN (${named(expiring)}) AND expires_at <= ${now}::timestamptz`);
  return Prisma.sql`(${Prisma.join(parts, ' OR ')})`;
}

type ListTasks = z.infer<typeof listTasksInput>;

const isStatusList = (value: string) => value.split(',').every((name) => Object.hasOwn(TaskStatus, name));

export const listTasksInput = z
  .object({
    aid: callerAid,
    status: z.string('INVALID_FIELD').refine(isStatusList, 'INVALID_FIELD').default('open'),
    priority: priority.optional(),
    parent_id: uuid('INVALID_PARENT_ID').optional(),
    created_by: aid().optional(),
    assigned_to: aid().optional(),
    workspace_id: uuid('INVALID_WORKSPACE_ID').optional(),
    sort: oneOf(['created_at', 'priority', 'deadline']).default('created_at'),
    limit: queryInteger(1, 100).default(20),
    offset: queryInteger(0, 999_999_999).default(0),
  })
  .transform(({ parent_id, created_by, assigned_to, workspace_id, ...same }) => ({
    ...same,
    parentId: parent_id,
    createdBy: created_by,
    assignedTo: assigned_to,
    workspaceId: workspace_id,
  })) satisfies z.ZodType<MessageInitShape<typeof ListTasksRequestSchema>>;
