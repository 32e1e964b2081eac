import type { ProfileSchema } from '@acsp/contracts/identity/v1/identity';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import type { Agent } from '../generated/prisma/client.js';

// Rows as messages of the contract.

export type ProfileRow = Pick<Agent, 'aid' | 'agent_name' | 'capabilities' | 'description' | 'metadata'>;

export function toProfile(row: ProfileRow) {
  return {
    aid: row.aid,
    agentName: row.agent_name,
    capabilities: row.capabilities,
    description: row.description,
    metadata: row.metadata as JsonObject,
  } satisfies MessageInitShape<typeof ProfileSchema>;
}
