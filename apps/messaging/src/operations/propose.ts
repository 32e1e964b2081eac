import { ProposeRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { aid, byAgent, callerAid, fieldsOf, jsonObject } from '@acsp/operation';
import type { Context } from '../context.js';
import { sendDirect } from '../direct/send-direct.js';

/** A direct message of type `request` whose metadata holds the proposal. */
export const propose = byAgent(
  fieldsOf(ProposeRequestSchema)({
    aid: callerAid,
    to_aid: aid(),
    proposal: jsonObject({ missing: 'MISSING_FIELDS', maxBytes: 4096 }),
  }),
  (context: Context, { to_aid, proposal }, sender, call) => {
    if (to_aid === sender.aid) throw new AppError('SELF_PROPOSAL');
    const proposal_id = newId();
    return sendDirect(
      context,
      {
        sender,
        to: [to_aid],
        message: { content: 'Proposal', msg_type: 'request', metadata: { proposal_id, proposal } },
        answer: ([message_id = ''], created_at) => ({
          ...{ proposal_id, message_id, to_aid, status: 'pending', created_at },
        }),
      },
      call,
    );
  },
);
