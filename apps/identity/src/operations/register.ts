import { RegisterCompactRequestSchema } from '@acsp/contracts/identity/v1/compact';
import { RegisterRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, isWeakPublicKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { type Agent, fieldsOf } from '@acsp/operation';
import type { z } from 'zod';
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
import { insertAgent } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

type Input = Omit<z.infer<typeof registerInput>, 'aid'>;
type Compact = z.infer<typeof registerCompactInput>;

/** A new agent under the key that it brings. Its principal comes from the signature, so it proves that the caller holds that key. */
export async function register(context: Context, input: Input, { aid }: Agent) {
  if (aidOf(input.public_key) !== aid) {
    throw new AppError('INVALID_AID', { detail: 'The AID does not belong to the public key' });
  }
  if (isWeakPublicKey(input.public_key)) throw new AppError('INVALID_PUBLIC_KEY');
  const agent = { ...input, aid };
  const key = await insertAgent(context, agent);
  return {
    ...agent,
    status: 'active',
    created_at: key.createdAt,
    login_key: key.key,
    login_key_expires: key.expiresAt,
  };
}

export function registerCompact(context: Context, { ed25519_pubkey, ...input }: Compact, caller: Agent) {
  const capabilities = splitCapabilities(input.capabilities);
  const draft = {
    ...input,
    public_key: ed25519_pubkey,
    agent_name: input.agent_name ?? `agent-${input.aid.slice(0, 8)}`,
    capabilities,
    description: input.description ?? describeCapabilities(capabilities),
  };
  return register(context, draft, caller);
}

const notOfTheKey = { error: 'INVALID_AID', path: ['aid'] };

export const registerInput = fieldsOf(RegisterRequestSchema)({
  aid: ownAid.optional(),
  public_key: publicKey,
  agent_name: agentName,
  capabilities,
  description,
  ...extras,
}).refine(({ aid, public_key }) => aid === undefined || aid === aidOf(public_key), notOfTheKey);

export const registerCompactInput = fieldsOf(RegisterCompactRequestSchema)({
  aid: ownAid,
  ed25519_pubkey: publicKey,
  agent_name: agentName.optional(),
  capabilities: compactCapabilities,
  description: description.optional(),
  ...extras,
}).refine(({ aid, ed25519_pubkey }) => aid === aidOf(ed25519_pubkey), notOfTheKey);
