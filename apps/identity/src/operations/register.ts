import { RegisterCompactRequestSchema } from '@acsp/contracts/identity/v1/compact';
import { RegisterRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, isWeakPublicKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { byAgent, type Call, fieldsOf } from '@acsp/operation';
import { describeCapabilities } from '../agent/describe-capabilities.js';
import {
  agentName,
  capabilities,
  compactCapabilities,
  description,
  extras,
  ownAid,
  publicKey,
  splitCapabilities,
} from '../agent/fields.js';
import { insertAgent, type Registration } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

const notOfTheKey = { error: 'INVALID_AID', path: ['aid'] };

/** A new agent under the key that it brings. Its principal comes from the signature, so it proves that the caller holds that key. */
export const register = byAgent(
  fieldsOf(RegisterRequestSchema)({
    aid: ownAid.optional(),
    public_key: publicKey,
    agent_name: agentName,
    capabilities,
    description,
    ...extras,
  }).refine(({ aid, public_key }) => aid === undefined || aid === aidOf(public_key), notOfTheKey),
  (context: Context, input, { aid, signedAt = 0 }, call) =>
    registerAgent(context, { ...input, aid, signed_at: new Date(signedAt) }, call),
);

export const registerCompact = byAgent(
  fieldsOf(RegisterCompactRequestSchema)({
    aid: ownAid,
    ed25519_pubkey: publicKey,
    agent_name: agentName.optional(),
    capabilities: compactCapabilities,
    description: description.optional(),
    ...extras,
  }).refine(({ aid, ed25519_pubkey }) => aid === aidOf(ed25519_pubkey), notOfTheKey),
  (context: Context, { ed25519_pubkey, ...input }, { aid, signedAt = 0 }, call) => {
    const capabilities = splitCapabilities(input.capabilities);
    const agent = {
      ...input,
      aid,
      public_key: ed25519_pubkey,
      signed_at: new Date(signedAt),
      agent_name: input.agent_name ?? `agent-${aid.slice(0, 8)}`,
      capabilities,
      description: input.description ?? describeCapabilities(capabilities),
    };
    return registerAgent(context, agent, call);
  },
);

async function registerAgent(context: Context, agent: Registration, call: Call) {
  const { aid, public_key } = agent;
  if (aidOf(public_key) !== aid) {
    throw new AppError('INVALID_AID', { detail: 'The AID does not belong to the public key' });
  }
  if (isWeakPublicKey(public_key)) throw new AppError('INVALID_PUBLIC_KEY');
  const key = await insertAgent(context, agent, call);
  return {
    ...agent,
    status: 'active',
    created_at: key.createdAt,
    login_key: key.key,
    login_key_expires: key.expiresAt,
  };
}
