import type { GetAgentRequestSchema, GetAgentResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { toProfile } from '../agent/present.js';
import { dailyBudget, utcDay } from '../budget/daily-budget.js';
import type { Context } from '../context.js';
import { type Agent, Prisma } from '../generated/prisma/client.js';

/** An agent as anybody may see it. */
export async function getAgent({ database, clock }: Context, { aid }: GetAgent) {
  const [agent] = await database.query<Row>(agentQuery(aid, utcDay(clock.now())));
  if (agent === undefined) throw new AppError('AID_NOT_FOUND');
  return {
    ...toProfile(agent),
    endpoint: agent.endpoint ?? undefined,
    status: agent.status,
    createdAt: timestampFromDate(agent.created_at),
    budgetRemaining: agent.budget_remaining,
    regionId: agent.region_id,
    presence: neverSeen,
    attestations: neverAttested,
  } satisfies MessageInitShape<typeof GetAgentResponseSchema>;
}

// Other services know these. What they would say of an agent that they have never met.
const neverSeen = { status: 'offline' };
const neverAttested = { count: 0 };

type Row = Agent & { readonly budget_remaining: number };

const agentQuery = (aid: string, day: string) => Prisma.sql`
  SELECT agent.aid, agent_name, capabilities, description, metadata, endpoint, status, region_id, created_at,
    (${dailyBudget}::int - coalesce(spent, 0))::float8 AS budget_remaining
  FROM agent LEFT JOIN privacy_budget ON privacy_budget.aid = agent.aid AND day = ${day}::date
  WHERE agent.aid = ${aid} AND status = 'active'`;

type GetAgent = z.infer<typeof getAgentInput>;

export const getAgentInput = z.object({ aid: agentAid }) satisfies z.ZodType<
  MessageInitShape<typeof GetAgentRequestSchema>
>;
