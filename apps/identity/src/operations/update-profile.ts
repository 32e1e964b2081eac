import type { UpdateProfileRequestSchema, UpdateProfileResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { type Agent, parseFields } from '@acsp/rpc';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { changeAgent } from '../agent/change-agent.js';
import { agentAid, agentMetadata, agentName, capabilities, endpoint, longDescription } from '../agent/fields.js';
import { lockAgent } from '../agent/find-agent.js';
import { toProfile } from '../agent/present.js';
import type { Context } from '../context.js';

/** Changes the given fields of the caller's own profile. Metadata is merged under the lock, so that two updates at once keep both. */
export async function updateProfile({ database, clock }: Context, request: UpdateProfile, { aid }: Agent) {
  const { agentName, capabilities, description, endpoint, metadata } = request;
  const agent = await database.transaction(async (tx) => {
    const known = await lockAgent(tx, aid);
    return changeAgent(tx, aid, {
      agent_name: agentName,
      capabilities,
      description,
      endpoint: endpoint === '' ? null : endpoint,
      metadata: metadata && merge(known.metadata as JsonObject, metadata),
      updated_at: clock.now(),
    });
  });
  return {
    updated: true,
    aid,
    fieldsUpdated: givenFields(request),
    agent: toProfile(agent),
  } satisfies MessageInitShape<typeof UpdateProfileResponseSchema>;
}

/** Member by member. The limits hold for the outcome. */
function merge(stored: JsonObject, given: JsonObject) {
  return parseFields(mergedMetadata, { metadata: { ...stored, ...given } }).metadata as Record<string, never>;
}

const mergedMetadata = z.object({ metadata: agentMetadata });

/** Fields that may change, in the order in which the answer names them, and where the request has them. */
const updatable = {
  agent_name: 'agentName',
  capabilities: 'capabilities',
  description: 'description',
  endpoint: 'endpoint',
  metadata: 'metadata',
} as const;

const givenFields = (request: Omit<UpdateProfile, 'aid'>): string[] =>
  Object.entries(updatable).flatMap(([field, member]) => (request[member] === undefined ? [] : field));

type UpdateProfile = z.infer<typeof updateProfileInput>;

export const updateProfileInput = z
  .object({
    aid: agentAid,
    agent_name: agentName.optional(),
    capabilities: capabilities.optional(),
    description: longDescription.optional(),
    endpoint: z.union([z.literal(''), endpoint], 'INVALID_FIELD').optional(),
    metadata: agentMetadata.optional(),
  })
  .transform(({ agent_name, ...same }) => ({ ...same, agentName: agent_name }))
  .refine(
    (request) => Object.values(updatable).some((member) => request[member] !== undefined),
    'NO_FIELDS',
  ) satisfies z.ZodType<MessageInitShape<typeof UpdateProfileRequestSchema>>;
