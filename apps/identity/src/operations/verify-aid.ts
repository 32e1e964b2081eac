import type { VerifyAidRequestSchema, VerifyAidResponseSchema } from '@acsp/contracts/identity/v1/identity';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { findAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** The public key behind an AID, for whoever checks that agent's signatures. */
export async function verifyAid(context: Context, { aid }: VerifyAid) {
  const { public_key } = await findAgent(context, aid);
  return { aid, ed25519Pubkey: public_key } satisfies MessageInitShape<typeof VerifyAidResponseSchema>;
}

type VerifyAid = z.infer<typeof verifyAidInput>;

export const verifyAidInput = z.object({ aid: agentAid }) satisfies z.ZodType<
  MessageInitShape<typeof VerifyAidRequestSchema>
>;
