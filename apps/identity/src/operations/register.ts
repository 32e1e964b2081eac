import type { RegisterRequestSchema, RegisterResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { aidOf, isWeakPublicKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { aid } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
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
  publicKey,
} from '../agent/fields.js';
import { insertAgent } from '../agent/insert-agent.js';
import type { Context } from '../context.js';

/** A new agent under the key that it brings. Its principal comes from the signature, so it proves that the caller holds that key. */
export async function register(context: Context, request: Register, caller: Agent) {
  if (aidOf(request.publicKey) !== caller.aid) {
    throw new AppError('INVALID_AID', { detail: 'The AID does not belong to the public key' });
  }
  if (isWeakPublicKey(request.publicKey)) throw new AppError('INVALID_PUBLIC_KEY');
  const key = await insertAgent(context, { ...request, aid: caller.aid });
  return {
    aid: caller.aid,
    agentName: request.agentName,
    capabilities: request.capabilities,
    status: 'active',
    createdAt: timestampFromDate(key.createdAt),
    loginKey: key.key,
    loginKeyExpires: timestampFromDate(key.expiresAt),
  } satisfies MessageInitShape<typeof RegisterResponseSchema>;
}

type Register = z.infer<typeof registerInput>;

const ownAid = aid({ missing: 'MISSING_FIELDS', code: 'INVALID_AID' });
const extras = { owner_id: ownerId.optional(), endpoint: endpoint.optional(), metadata: agentMetadata.default({}) };

/** A claimed AID has to be that of the key, in either form. */
const belongs = ({ aid, publicKey }: { readonly aid?: string; readonly publicKey: string }) =>
  aid === undefined || aid === aidOf(publicKey);

const detailed = z
  .object({
    aid: ownAid.optional(),
    public_key: publicKey,
    agent_name: agentName,
    capabilities,
    description,
    ...extras,
  })
  .transform(({ public_key, agent_name, owner_id, ...same }) => ({
    ...same,
    publicKey: public_key,
    agentName: agent_name,
    ownerId: owner_id,
  }));

const compact = z
  .object({
    aid: ownAid,
    ed25519_pubkey: publicKey,
    agent_name: agentName.optional(),
    capabilities: compactCapabilities,
    description: description.optional(),
    ...extras,
  })
  .transform(({ ed25519_pubkey, agent_name, description, owner_id, ...same }) => ({
    ...same,
    publicKey: ed25519_pubkey,
    agentName: agent_name ?? `agent-${same.aid.slice(0, 8)}`,
    description: description ?? describeCapabilities(same.capabilities),
    ownerId: owner_id,
  }));

export const registerInput = eitherForm('ed25519_pubkey', compact, detailed)
  .refine(belongs, { error: 'INVALID_AID', path: ['aid'] })
  .transform(({ aid: _aid, ...same }) => same) satisfies z.ZodType<MessageInitShape<typeof RegisterRequestSchema>>;
