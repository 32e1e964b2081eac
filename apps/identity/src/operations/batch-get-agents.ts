import type { BatchGetAgentsRequestSchema, BatchGetAgentsResponseSchema } from '@acsp/contracts/identity/v1/identity';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { type ProfileRow, toProfile } from '../agent/present.js';
import type { Context } from '../context.js';

/** The active ones among some agents, in no order. */
export async function batchGetAgents({ database }: Context, { aids }: BatchGetAgents) {
  // Not Prisma's `in`, whose text differs with the number of AIDs: this one is prepared once.
  const agents = await database.prisma.$queryRaw<ProfileRow[]>`
    SELECT aid, agent_name, capabilities, description, metadata FROM agent WHERE aid = ANY (${aids}::text[]) AND status = 'active'`;
  return { agents: agents.map(toProfile) } satisfies MessageInitShape<typeof BatchGetAgentsResponseSchema>;
}

type BatchGetAgents = z.infer<typeof batchGetAgentsInput>;

export const batchGetAgentsInput = z.object({
  aids: z.array(agentAid, 'INVALID_FIELD').max(100, 'INVALID_FIELD').default([]),
}) satisfies z.ZodType<MessageInitShape<typeof BatchGetAgentsRequestSchema>>;
