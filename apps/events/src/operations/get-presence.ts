import { GetPresenceRequestSchema } from '@acsp/contracts/events/v1/presence';
import { AppError } from '@acsp/errors';
import { aid, byAgent, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { presentPresence } from '../presence/present.js';

/** The presence of any active agent. */
export const getPresence = byAgent(
  fieldsOf(GetPresenceRequestSchema)({ aid: aid() }),
  async (context: Context, { aid }) => {
    const since = (await context.directory([aid])).get(aid);
    if (since === undefined) throw new AppError('AID_NOT_FOUND');
    return presentPresence(context, aid, since);
  },
);
