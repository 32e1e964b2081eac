import type { QuickstartRequestSchema, QuickstartResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, generateKeyPair } from '@acsp/crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { describeCapabilities } from '../agent/describe-capabilities.js';
import { eitherForm } from '../agent/either-form.js';
import {
  agentMetadata,
  agentName,
  capabilities,
  compactCapabilities,
  description,
  endpoint,
  ownerId,
} from '../agent/fields.js';
import { insertAgent } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

/** A new agent with a key pair that is made here, returned this once and not kept. */
export async function quickstart(context: Context, request: Quickstart) {
  const { publicKey, privateKey } = generateKeyPair();
  const aid = aidOf(publicKey);
  const description = request.description ?? describeCapabilities(request.capabilities);
  const key = await insertAgent(context, { ...request, description, aid, publicKey });
  return {
    aid,
    publicKey,
    privateKey,
    agentName: request.agentName,
    capabilities: request.capabilities,
    loginKey: key.key,
    loginKeyExpires: timestampFromDate(key.expiresAt),
    warning:
      'Save private_key and login_key now: neither is kept here in readable form, and private_key is never shown again.',
  } satisfies MessageInitShape<typeof QuickstartResponseSchema>;
}

type Quickstart = z.infer<typeof quickstartInput>;

const extras = {
  description: description.optional(),
  owner_id: ownerId.optional(),
  endpoint: endpoint.optional(),
  metadata: agentMetadata.default({}),
};

const detailed = z
  .object({ agent_name: agentName, capabilities, ...extras })
  .transform(({ agent_name, owner_id, ...same }) => ({ ...same, agentName: agent_name, ownerId: owner_id }));

const compact = z
  .object({ name: agentName, capabilities: compactCapabilities, ...extras })
  .transform(({ name, owner_id, ...same }) => ({ ...same, agentName: name, ownerId: owner_id }));

export const quickstartInput = eitherForm('name', compact, detailed) satisfies z.ZodType<
  MessageInitShape<typeof QuickstartRequestSchema>
>;
