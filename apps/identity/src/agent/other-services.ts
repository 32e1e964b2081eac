import type { AgentAttestationsSchema, AgentPresenceSchema } from '@acsp/contracts/identity/v1/identity';
import type { MessageInitShape } from '@bufbuild/protobuf';

// What the status lookup tells of an agent that other services know, as they would say it of one that they have never met.

export const presence = { status: 'offline' } satisfies MessageInitShape<typeof AgentPresenceSchema>;
export const attestations = { count: 0 } satisfies MessageInitShape<typeof AgentAttestationsSchema>;
