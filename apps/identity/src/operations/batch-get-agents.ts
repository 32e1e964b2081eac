import { BatchGetAgentsRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { type ProfileRow, withMetadata } from '../agent/present.js';
import type { Context } from '../context.js';
import type { Agent } from '../generated/prisma/client.js';

/** The active ones among some agents, in no order. */
export const batchGetAgents = byAnyone(
  fieldsOf(BatchGetAgentsRequestSchema)({
    aids: z.array(agentAid, 'INVALID_FIELD').max(100, 'INVALID_FIELD').default([]),
  }),
  async ({ database }: Context, { aids }) => {
    // The text of Prisma's `in` differs with the number of AIDs; this statement is prepared once.
    const agents = await database.prisma.$queryRaw<Row[]>`
    SELECT aid, agent_name, capabilities, description, metadata, created_at
    FROM agent WHERE aid = ANY (${aids}::text[]) AND status = 'active'`;
    return { agents: agents.map(withMetadata), registered_at: agents.map(({ created_at }) => created_at) };
  },
);

type Row = ProfileRow & Pick<Agent, 'created_at'>;
