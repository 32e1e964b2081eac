import { QuickstartCompactRequestSchema } from '@acsp/contracts/identity/v1/compact';
import { QuickstartRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, generateKeyPair } from '@acsp/crypto';
import { fieldsOf } from '@acsp/operation';
import type { z } from 'zod';
import { describeCapabilities } from '../agent/describe-capabilities.js';
import {
  agentName,
  capabilities,
  compactCapabilities,
  description,
  extras,
  splitCapabilities,
} from '../agent/fields.js';
import { insertAgent } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

/** A new agent with a key pair that is made here, returned this once and not kept. */
export async function quickstart(context: Context, input: z.infer<typeof quickstartInput>) {
  const { publicKey: public_key, privateKey: private_key } = generateKeyPair();
  const aid = aidOf(public_key);
  const agent = {
    ...input,
    description: input.description ?? describeCapabilities(input.capabilities),
    aid,
    public_key,
  };
  const key = await insertAgent(context, agent);
  return { ...agent, private_key, login_key: key.key, login_key_expires: key.expiresAt, warning };
}

const warning =
  'Save private_key and login_key now: neither is kept here in readable form, and private_key is never shown again.';

export const quickstartCompact = (context: Context, { name, ...input }: z.infer<typeof quickstartCompactInput>) =>
  quickstart(context, { ...input, agent_name: name, capabilities: splitCapabilities(input.capabilities) });

export const quickstartInput = fieldsOf(QuickstartRequestSchema)({
  agent_name: agentName,
  capabilities,
  description: description.optional(),
  ...extras,
});

export const quickstartCompactInput = fieldsOf(QuickstartCompactRequestSchema)({
  name: agentName,
  capabilities: compactCapabilities,
  description: description.optional(),
  ...extras,
});
