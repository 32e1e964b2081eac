import { BatchGetPresenceRequestSchema } from '@acsp/contracts/events/v1/presence';
import { aid, byAnyone, fieldsOf, time } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { presentPresence } from '../presence/present.js';

const maxAids = 100;

/** The presence of agents for other services, which may know when they registered: then identity is not asked. */
export const batchGetPresence = byAnyone(
  fieldsOf(BatchGetPresenceRequestSchema)({
    aids: z.array(aid(), 'INVALID_FIELD').max(maxAids, 'INVALID_FIELD').default([]),
    registered_at: z.array(time({ code: 'INVALID_FIELD' }), 'INVALID_FIELD').default([]),
  }).refine(({ aids, registered_at: { length } }) => length === 0 || length === aids.length, {
    error: 'INVALID_FIELD',
    path: ['registered_at'],
  }),
  async (context: Context, { aids, registered_at }) => {
    const known = registered_at.length > 0 || aids.length === 0 ? undefined : await context.directory(aids);
    const sinceOf = (aid: string, index: number) => registered_at[index] ?? known?.get(aid);
    const presences = aids.map((aid, index) => presentPresence(context, aid, sinceOf(aid, index)));
    return { presences: await Promise.all(presences) };
  },
);
