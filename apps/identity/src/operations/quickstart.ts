import { QuickstartCompactRequestSchema } from '@acsp/contracts/identity/v1/compact';
import { QuickstartRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, generateKeyPair } from '@acsp/crypto';
import { byAnyone, type Call, fieldsOf } from '@acsp/operation';
import { describeCapabilities } from '../agent/describe-capabilities.js';
import {
  agentName,
  capabilities,
  compactCapabilities,
  description,
  extras,
  splitCapabilities,
} from '../agent/fields.js';
import { insertAgent, type Registration } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

interface Draft extends Omit<Registration, 'aid' | 'public_key' | 'description'> {
  readonly description?: string | undefined;
}

/** A new agent with a key pair that is made here, returned this once and not kept. */
export const quickstart = byAnyone(
  fieldsOf(QuickstartRequestSchema)({
    agent_name: agentName,
    capabilities,
    description: description.optional(),
    ...extras,
  }),
  (context: Context, input, _caller, call) => createWithKeys(context, input, call),
);

export const quickstartCompact = byAnyone(
  fieldsOf(QuickstartCompactRequestSchema)({
    name: agentName,
    capabilities: compactCapabilities,
    description: description.optional(),
    ...extras,
  }),
  (context: Context, { name, ...input }, _caller, call) =>
    createWithKeys(context, { ...input, agent_name: name, capabilities: splitCapabilities(input.capabilities) }, call),
);

async function createWithKeys(context: Context, draft: Draft, call: Call) {
  const { publicKey: public_key, privateKey: private_key } = generateKeyPair();
  const aid = aidOf(public_key);
  const agent = {
    ...draft,
    description: draft.description ?? describeCapabilities(draft.capabilities),
    aid,
    public_key,
  };
  const key = await insertAgent(context, agent, call);
  return { ...agent, private_key, login_key: key.key, login_key_expires: key.expiresAt, warning };
}

const warning =
  'Save private_key and login_key now: neither is kept here in readable form, and private_key is never shown again.';
