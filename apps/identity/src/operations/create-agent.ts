import type { CreateAgentRequestSchema, CreateAgentResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, generateKeyPair } from '@acsp/crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { describeCapabilities } from '../agent/describe-capabilities.js';
import { agentMetadata, agentName, capabilities, longDescription } from '../agent/fields.js';
import { agentLink, firstSteps } from '../agent/first-steps.js';
import { insertAgent } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

/** A new agent for whoever wants to start with a login key alone: its key pair is made here and the private key thrown away. */
export async function createAgent(context: Context, request: CreateAgent) {
  const { publicKey } = generateKeyPair();
  const aid = aidOf(publicKey);
  const description = request.description ?? describeCapabilities(request.capabilities);
  const key = await insertAgent(context, { ...request, description, aid, publicKey });
  const { PUBLIC_URL: publicUrl } = context.config;
  return {
    aid,
    loginKey: key.key,
    loginKeyExpires: timestampFromDate(key.expiresAt),
    agentName: request.agentName,
    capabilities: request.capabilities,
    description,
    metadata: request.metadata,
    dashboardUrl: `${publicUrl}/dashboard`,
    agentLink: agentLink(publicUrl, aid),
    curlExamples: firstSteps(publicUrl, aid, key.key),
  } satisfies MessageInitShape<typeof CreateAgentResponseSchema>;
}

type CreateAgent = z.infer<typeof createAgentInput>;

export const createAgentInput = z
  .object({
    agent_name: agentName,
    capabilities,
    description: longDescription.optional(),
    metadata: agentMetadata.default({}),
  })
  .transform(({ agent_name, ...same }) => ({
    ...same,
    agentName: agent_name,
  })) satisfies z.ZodType<MessageInitShape<typeof CreateAgentRequestSchema>>;
