import { VerifyAidRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { agentAid } from '../agent/fields.js';
import { findAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** The public key behind an AID, for whoever checks that agent's signatures. */
export const verifyAid = byAnyone(
  fieldsOf(VerifyAidRequestSchema)({ aid: agentAid }),
  async (context: Context, { aid }) => {
    const { public_key } = await findAgent(context, aid);
    return { aid, ed25519_pubkey: public_key };
  },
);
