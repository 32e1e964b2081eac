import { GetSigningKeyRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { fieldsOf } from '@acsp/operation';
import type { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { findAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** The key by which the gateway checks a request that claims to come from this agent. */
export async function getSigningKey(context: Context, { aid }: z.infer<typeof getSigningKeyInput>) {
  const agent = await findAgent(context, aid);
  return { ...agent, registered_at: agent.created_at };
}

export const getSigningKeyInput = fieldsOf(GetSigningKeyRequestSchema)({ aid: agentAid });
