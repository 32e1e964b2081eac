import { ListTasksRequestSchema, type ListTasksResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import type { Query } from '@acsp/database';
import { aid, byAgent, callerAid, fieldsOf, oneOf, type PublicOf, queryInteger, uuid } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { TaskStatus } from '../generated/prisma/enums.js';
import { priority } from '../task/fields.js';
import { cursorOf, readCursor, sorts } from '../task/list-order.js';
import { countQuery, pageQuery } from '../task/list-query.js';
import { presentSummary } from '../task/present.js';

const isStatusList = (value: string) => value.split(',').every((name) => Object.hasOwn(TaskStatus, name));

const fields = fieldsOf(ListTasksRequestSchema)({
  aid: callerAid,
  status: z
    .string('INVALID_FIELD')
    .refine(isStatusList, 'INVALID_FIELD')
    // One spelling of each set of statuses, so that neither statements nor cached totals vary with their order.
    .transform((value) => [...new Set(value.split(','))].sort().join(','))
    .default('open'),
  priority: priority.optional(),
  parent_id: uuid('INVALID_PARENT_ID').optional(),
  created_by: aid().optional(),
  assigned_to: aid().optional(),
  workspace_id: uuid('INVALID_WORKSPACE_ID').optional(),
  sort: oneOf(sorts).default('created_at'),
  limit: queryInteger(1, 100).default(20),
  offset: queryInteger(0, 10_000).default(0),
  cursor: z
    .string('INVALID_FIELD')
    .regex(/^[\w-]{1,200}$/, 'INVALID_FIELD')
    .optional(),
}).refine(({ cursor, sort }) => cursor === undefined || readCursor(sort, cursor) !== undefined, {
  error: 'INVALID_FIELD',
  path: ['cursor'],
});

/** Filters and place of a page. */
export type ListQuery = Omit<z.infer<typeof fields>, 'aid'>;

/**
 * One page of the tasks that pass every filter. Workers that look for work ask for the same page at the same time: they share one reading of it,
 * and one answer.
 */
export const listTasks = byAgent(fields, (context: Context, { aid: _aid, ...query }) =>
  context.pages(JSON.stringify(query), async () =>
    Object.freeze(await context.database.read(kindOf(query), (ask) => readPage({ ...context, ask }, query))),
  ),
);

/** Pages of about the same cost: passing 10,000 index entries costs little beside filters that no index has. */
const kindOf = ({ limit: _limit, offset: _offset, cursor: _cursor, ...filters }: ListQuery) => JSON.stringify(filters);

interface Reading extends Pick<Context, 'clock' | 'totals'> {
  readonly ask: Query;
}

export type Page = PublicOf<typeof ListTasksResponseSchema>;

async function readPage(reading: Reading, input: ListQuery): Promise<Page> {
  const now = reading.clock.now();
  const [page] = await reading.ask<{ items: readonly Row[] | null }>(pageQuery(input, now));
  const found = page?.items ?? [];
  const rows = found.slice(0, input.limit);
  const has_more = found.length > input.limit;
  const last = rows.at(-1);
  return {
    tasks: rows.map((row) => presentSummary(row, now)),
    total: await totalOf(reading, input, { shown: rows.length, has_more, now }),
    has_more,
    next_cursor: has_more && last !== undefined ? cursorOf(input.sort, last) : null,
  };
}

type Row = Parameters<typeof presentSummary>[0];

interface Shown {
  readonly shown: number;
  readonly has_more: boolean;
  readonly now: Date;
}

/** A total up to this is counted for each request; a larger one may be two seconds old. */
const exactLimit = 250;

async function totalOf({ ask, totals }: Reading, input: ListQuery, { shown, has_more, now }: Shown): Promise<number> {
  const { limit: _limit, offset, sort: _sort, cursor, ...filters } = input;
  const isPlaced = cursor === undefined && (shown > 0 || offset === 0);
  const reached = isPlaced ? offset + shown : 0;
  // The last page tells by itself how many there are.
  if (isPlaced && !has_more) return reached;
  const count = async (limit?: number) => (await ask<{ total: number }>(countQuery(input, now, limit)))[0]?.total ?? 0;
  const key = JSON.stringify(filters);
  const atLeast = await (totals.get(key) ?? count(exactLimit));
  if (atLeast < exactLimit) return Math.max(atLeast, reached);
  const all = totals.get(key) ?? count();
  if (!totals.has(key)) {
    totals.set(key, all);
    all.catch(() => totals.delete(key));
  }
  return Math.max(await all, reached);
}
