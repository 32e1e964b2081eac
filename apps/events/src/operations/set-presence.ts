import { SetPresenceRequestSchema } from '@acsp/contracts/events/v1/presence';
import { byAgent, callerAid, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { presenceMetadata, status } from '../presence/fields.js';
import { report } from '../presence/report.js';

/** Says how the caller is. It is good for as long as a heartbeat. */
export const setPresence = byAgent(
  fieldsOf(SetPresenceRequestSchema)({ aid: callerAid, status, metadata: presenceMetadata }),
  async (context: Context, { status, metadata }, caller) => {
    const seen = await report(context, caller, { status, metadata, signal: false });
    return { aid: caller.aid, ...seen };
  },
);
