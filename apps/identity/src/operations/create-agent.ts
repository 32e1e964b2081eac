import { CreateAgentRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, generateKeyPair } from '@acsp/crypto';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { describeCapabilities } from '../agent/describe-capabilities.js';
import { agentName, capabilities, extras, longDescription } from '../agent/fields.js';
import { agentLink, firstSteps } from '../agent/first-steps.js';
import { insertAgent } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

/** A new agent for whoever wants to start with a login key alone: its key pair is made here and the private key thrown away. */
export const createAgent = byAnyone(
  fieldsOf(CreateAgentRequestSchema)({
    agent_name: agentName,
    capabilities,
    description: longDescription.optional(),
    metadata: extras.metadata,
  }),
  async (context: Context, input, _caller, call) => {
    const { publicKey: public_key } = generateKeyPair();
    const aid = aidOf(public_key);
    const agent = { ...input, description: input.description ?? describeCapabilities(input.capabilities), aid };
    const key = await insertAgent(context, { ...agent, public_key }, call);
    const { PUBLIC_URL: publicUrl } = context.config;
    return {
      ...agent,
      login_key: key.key,
      login_key_expires: key.expiresAt,
      dashboard_url: `${publicUrl}/dashboard`,
      agent_link: agentLink(publicUrl, aid),
      curl_examples: firstSteps(publicUrl, aid, key.key),
    };
  },
);
