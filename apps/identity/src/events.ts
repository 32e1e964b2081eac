import { defineEvents } from '@acsp/bus';
import { AgentEventSchema, LoginKeyEventSchema, PathEventSchema } from '@acsp/contracts/identity/v1/events';
import type { RawExecutor } from '@acsp/database';
import type { Agent } from './generated/prisma/client.js';

export const events = defineEvents({ agent: AgentEventSchema, login_key: LoginKeyEventSchema, path: PathEventSchema });

type Life = Pick<Agent, 'aid' | 'agent_name' | 'capabilities' | 'description' | 'created_at'>;

/** An event about one life of an agent, with its profile. */
export const agentEvent = (happened: 'registered' | 'updated' | 'revoked' | 'deleted', agent: Life) =>
  ({
    type: `agent.${happened}`,
    audience: [`agent:${agent.aid}`],
    actor: agent.aid,
    payload: {
      aid: agent.aid,
      agent_name: agent.agent_name,
      capabilities: agent.capabilities,
      description: agent.description,
      registered_at: agent.created_at,
    },
  }) as const;

export const emitAgent = (tx: RawExecutor, ...about: Parameters<typeof agentEvent>): Promise<void> =>
  events.emit(tx, agentEvent(...about));
