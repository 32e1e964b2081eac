import { VerifyAidRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { fieldsOf } from '@acsp/operation';
import type { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { findAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** The public key behind an AID, for whoever checks that agent's signatures. */
export async function verifyAid(context: Context, { aid }: z.infer<typeof verifyAidInput>) {
  const { public_key } = await findAgent(context, aid);
  return { aid, ed25519_pubkey: public_key };
}

export const verifyAidInput = fieldsOf(VerifyAidRequestSchema)({ aid: agentAid });
