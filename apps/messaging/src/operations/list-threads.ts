import { ListThreadsRequestSchema } from '@acsp/contracts/messaging/v1/threads';
import { byAgent, callerAid, fieldsOf, oneOf, queryInteger } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { statuses } from '../thread/decide.js';
import { cursorOf, readCursor } from '../thread/list-cursor.js';
import { type List, listQuery } from '../thread/list-query.js';
import { presentThread, type ThreadRow } from '../thread/present.js';

type Row = ThreadRow & { readonly total: number };

/** The caller's threads, from both sides, newest first. */
export const listThreads = byAgent(
  fieldsOf(ListThreadsRequestSchema)({
    aid: callerAid,
    status: oneOf(statuses).optional(),
    limit: queryInteger(1, 100).default(20),
    cursor: z
      .string('INVALID_FIELD')
      .regex(/^[\w-]{1,100}$/, 'INVALID_FIELD')
      .refine((text) => readCursor(text) !== undefined, 'INVALID_FIELD')
      .optional(),
  }),
  async (context: Context, { status, limit, cursor }, { aid }) => {
    const now = context.clock.now();
    const after = cursor == null ? undefined : readCursor(cursor);
    const found = await read(context, { aid, status, limit: limit + 1, after, now });
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    // A page without rows says no total, unless it is the first.
    const [counted] =
      found.length > 0 || after === undefined ? found : await read(context, { aid, status, limit: 1, now });
    return {
      threads: rows.map((row) => presentThread(row, now)),
      total: counted?.total ?? 0,
      next_cursor: last !== undefined && found.length > limit ? cursorOf(last) : null,
    };
  },
);

const read = ({ database }: Context, list: List) =>
  database.read(`threads of ${list.aid}`, (ask) => ask<Row>(listQuery(list)));
