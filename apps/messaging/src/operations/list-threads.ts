import { ListThreadsRequestSchema } from '@acsp/contracts/messaging/v1/threads';
import { byAgent, fieldsOf, oneOf, queryInteger } from '@acsp/operation';
import type { Context } from '../context.js';
import { callerAid } from '../direct/fields.js';
import { statuses } from '../thread/decide.js';
import { listQuery } from '../thread/list-query.js';
import { presentThread, type ThreadRow } from '../thread/present.js';

type Row = ThreadRow & { readonly total: number };

/** The caller's threads, from both sides, newest first. */
export const listThreads = byAgent(
  fieldsOf(ListThreadsRequestSchema)({
    aid: callerAid,
    status: oneOf(statuses).optional(),
    limit: queryInteger(1, 100).default(20),
  }),
  async ({ database, clock }: Context, { status, limit }, { aid }) => {
    const now = clock.now();
    const query = listQuery({ aid, status, limit, now });
    const rows = await database.read(`threads of ${aid}`, (ask) => ask<Row>(query));
    return { threads: rows.map((row) => presentThread(row, now)), total: rows[0]?.total ?? 0 };
  },
);
