import { GetSigningKeyRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { findAgent, findEndedToo } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** The key by which the gateway checks a request that claims to come from this agent. */
export const getSigningKey = byAnyone(
  fieldsOf(GetSigningKeyRequestSchema)({
    aid: agentAid,
    include_ended: z.boolean('INVALID_FIELD').default(false),
  }),
  async (context: Context, { aid, include_ended }) => {
    const agent = await (include_ended ? findEndedToo(context, aid) : findAgent(context, aid));
    return { ...agent, registered_at: agent.created_at, signed_from: agent.signed_at };
  },
);
