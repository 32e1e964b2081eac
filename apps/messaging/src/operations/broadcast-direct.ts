import { BroadcastDirectRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { newId } from '@acsp/database';
import { aid, byAgent, callerAid, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { longContent } from '../direct/fields.js';
import { sendDirect } from '../direct/send-direct.js';

/** One direct message to each recipient: all of them get it, or none. */
export const broadcastDirect = byAgent(
  fieldsOf(BroadcastDirectRequestSchema)({
    aid: callerAid,
    to_aids: z
      .array(aid(), { error: ({ input }) => (input === undefined ? 'MISSING_FIELDS' : 'INVALID_FIELD') })
      .min(1, 'INVALID_FIELD')
      .max(50, 'INVALID_FIELD'),
    body: longContent,
  }),
  (context: Context, { to_aids, body }, sender, call) => {
    const to = [...new Set(to_aids)];
    const broadcast_id = newId();
    return sendDirect(
      context,
      {
        sender,
        to,
        message: { content: body, msg_type: 'text', metadata: { broadcast_id } },
        answer: (_ids, created_at) => ({ broadcast_id, recipients: to.length, created_at }),
      },
      call,
    );
  },
);
