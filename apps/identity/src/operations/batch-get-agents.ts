import { BatchGetAgentsRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { type ProfileRow, withMetadata } from '../agent/present.js';
import type { Context } from '../context.js';

/** The active ones among some agents, in no order. */
export async function batchGetAgents({ database }: Context, { aids }: z.infer<typeof batchGetAgentsInput>) {
  // Not Prisma's `in`, whose text differs with the number of AIDs: this one is prepared once.
  const agents = await database.prisma.$queryRaw<ProfileRow[]>`
    SELECT aid, agent_name, capabilities, description, metadata FROM agent WHERE aid = ANY (${aids}::text[]) AND status = 'active'`;
  return { agents: agents.map(withMetadata) };
}

export const batchGetAgentsInput = fieldsOf(BatchGetAgentsRequestSchema)({
  aids: z.array(agentAid, 'INVALID_FIELD').max(100, 'INVALID_FIELD').default([]),
});
