import { HeartbeatRequestSchema } from '@acsp/contracts/events/v1/presence';
import { byAgent, callerAid, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { presenceMetadata, status } from '../presence/fields.js';
import { report } from '../presence/report.js';
import { heartbeatSeconds } from '../presence/rules.js';

/** Keeps the caller online, or as it says that it is. */
export const heartbeat = byAgent(
  fieldsOf(HeartbeatRequestSchema)({ aid: callerAid, status: status.default('online'), metadata: presenceMetadata }),
  async (context: Context, { status, metadata }, caller) => {
    await report(context, caller, { status, metadata, signal: true });
    return { ok: true, status, next_heartbeat_seconds: heartbeatSeconds };
  },
);
