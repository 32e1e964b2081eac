import type { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import type { NewEvent } from '@acsp/database';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Agent } from '../generated/prisma/client.js';

type Profile = Pick<Agent, 'aid' | 'agent_name' | 'capabilities' | 'description'>;

/** What became of an agent, told to everybody together with its profile. */
export function agentEvent(happened: 'registered' | 'updated' | 'revoked' | 'deleted', agent: Profile): NewEvent {
  return {
    type: `agent.${happened}`,
    audience: [`agent:${agent.aid}`],
    actor: agent.aid,
    payload: {
      aid: agent.aid,
      agentName: agent.agent_name,
      capabilities: agent.capabilities,
      description: agent.description,
    } satisfies MessageInitShape<typeof AgentEventSchema>,
  };
}
