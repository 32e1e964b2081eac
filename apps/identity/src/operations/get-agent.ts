import { GetAgentRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { agentAid } from '../agent/fields.js';
import { withMetadata } from '../agent/present.js';
import { dailyBudget, utcDay } from '../budget/daily-budget.js';
import type { Context } from '../context.js';
import { type Agent, Prisma } from '../generated/prisma/client.js';

/** An agent as anybody may see it. */
export const getAgent = byAnyone(
  fieldsOf(GetAgentRequestSchema)({ aid: agentAid }),
  async ({ database, clock, presenceOf }: Context, { aid }) => {
    const [agent] = await database.query<Row>(agentQuery(aid, utcDay(clock.now())));
    if (agent === undefined) throw new AppError('AID_NOT_FOUND');
    return { ...withMetadata(agent), presence: await presenceOf(agent), attestations: neverAttested };
  },
);

/** Nobody has attested anything yet. */
const neverAttested = { count: 0, average_score: null, average_rating: null };

type Row = Agent & { readonly budget_remaining: number };

const agentQuery = (aid: string, day: string) => Prisma.sql`
  SELECT agent.aid, agent_name, capabilities, description, metadata, endpoint, status, region_id, created_at,
    (${dailyBudget}::int - coalesce(spent, 0))::float8 AS budget_remaining
  FROM agent LEFT JOIN privacy_budget ON privacy_budget.aid = agent.aid AND day = ${day}::date
  WHERE agent.aid = ${aid} AND status = 'active'`;
