import type { GetSigningKeyRequestSchema, GetSigningKeyResponseSchema } from '@acsp/contracts/identity/v1/identity';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { findAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** The key by which the gateway checks a request that claims to come from this agent. */
export async function getSigningKey(context: Context, { aid }: GetSigningKey) {
  const { agent_name, public_key } = await findAgent(context, aid);
  return { aid, agentName: agent_name, publicKey: public_key } satisfies MessageInitShape<
    typeof GetSigningKeyResponseSchema
  >;
}

type GetSigningKey = z.infer<typeof getSigningKeyInput>;

export const getSigningKeyInput = z.object({ aid: agentAid }) satisfies z.ZodType<
  MessageInitShape<typeof GetSigningKeyRequestSchema>
>;
