import type { ListTasksRequestSchema, ListTasksResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { aid, oneOf, queryInteger, uuid } from '@acsp/http';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma, type Task } from '../generated/prisma/client.js';
import { TaskStatus } from '../generated/prisma/enums.js';
import { callerAid, priority } from '../task/fields.js';
import { toSummary } from '../task/present.js';
import { expiring, includes } from '../task/state.js';

/** One page of the tasks that pass every filter. It is the same for everybody, so that all who ask for it at once share one reading. */
export function listTasks(context: Context, { aid: _aid, ...request }: ListTasks): Promise<Page> {
  return context.pages(JSON.stringify(request), () => readPage(context, request));
}

export type Counts = LRUCache<string, Promise<number>>;
export type Page = MessageInitShape<typeof ListTasksResponseSchema>;
type Request = Omit<ListTasks, 'aid'>;

async function readPage(context: Context, request: Request): Promise<Page> {
  const now = context.clock.now();
  const where = conditions(request, now);
  const found = await context.database.query<Task>(pageQuery(where, request));
  const rows = found.slice(0, request.limit);
  const seen = request.offset + found.length;
  // A page that is neither full nor behind the last task tells by itself how many there are.
  const known = found.length < reach(request) && (found.length > 0 || request.offset === 0);
  const counted = known ? seen : await count(context, where, request);
  return {
    tasks: rows.map((row) => toSummary(row, now)),
    total: found.length > 0 ? Math.max(seen, counted) : counted,
    hasMore: found.length > request.limit,
  };
}

/**
 * How many rows are read: one more than asked for, which is whether there are more. One of two numbers and in the text, as an offset of 0 is left out:
 * with parameters PostgreSQL expects a tenth of the table and plans each time, and with every limit in a text of its own there would be too many.
 */
const reach = ({ limit }: Request) => (limit <= 20 ? 21 : 101);

const pageQuery = (where: Prisma.Sql, request: Request) => Prisma.sql`
  SELECT ${summaryColumns} FROM task WHERE ${where} ORDER BY ${orders[request.sort]} LIMIT ${Prisma.raw(String(reach(request)))}
  ${request.offset === 0 ? Prisma.empty : Prisma.sql`OFFSET ${request.offset}::int`}`;

const summaryColumns = Prisma.raw(
  'id, creator_aid, creator_name, parent_id, title, description, requirements, tags, status, priority, deadline, expires_at, ' +
    'assigned_aid, claims_count, subtasks_count, created_at',
);

const orders = {
  created_at: Prisma.sql`created_at DESC, id`,
  priority: Prisma.sql`priority DESC, id`,
  deadline: Prisma.sql`deadline ASC NULLS LAST, id`,
};

/** Counting costs more than the page: up to here a total is exact, beyond it may be two seconds old. */
const exactLimit = 250;

async function count({ database, counts, totals }: Context, where: Prisma.Sql, request: Request): Promise<number> {
  const { limit: _limit, offset: _offset, sort: _sort, ...filters } = request;
  const key = JSON.stringify(filters);
  const read = (query: Prisma.Sql) => async () => (await database.query<{ total: number }>(query))[0]?.total ?? 0;
  const some = Prisma.sql`SELECT FROM task WHERE ${where} LIMIT ${Prisma.raw(String(exactLimit))}`;
  const exact = await remember(counts, key, read(Prisma.sql`SELECT count(*)::int AS total FROM (${some}) AS found`));
  if (exact < exactLimit) return exact;
  return remember(totals, key, read(Prisma.sql`SELECT count(*)::int AS total FROM task WHERE ${where}`));
}

function remember(cache: Counts, key: string, read: () => Promise<number>): Promise<number> {
  let total = cache.get(key);
  if (total === undefined) {
    total = read();
    cache.set(key, total);
    total.catch(() => cache.delete(key));
  }
  return total;
}

function conditions(filters: Request, now: Date): Prisma.Sql {
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
