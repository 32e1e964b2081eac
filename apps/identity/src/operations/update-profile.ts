import { UpdateProfileRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAgent, fieldsOf, parseFields } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentAid, agentMetadata, agentName, capabilities, endpoint, longDescription } from '../agent/fields.js';
import { lockCaller } from '../agent/find-agent.js';
import { withMetadata } from '../agent/present.js';
import type { Context } from '../context.js';
import { emitAgent } from '../events.js';

/** Changes the given fields of the caller's own profile. Metadata is merged under the lock, so that two updates at once keep both. */
export const updateProfile = byAgent(
  fieldsOf(UpdateProfileRequestSchema)({
    aid: agentAid,
    agent_name: agentName.optional(),
    capabilities: capabilities.optional(),
    description: longDescription.optional(),
    endpoint: z.union([z.literal(''), endpoint], 'INVALID_FIELD').optional(),
    metadata: agentMetadata.optional(),
  }).refine((input) => updatable.some((field) => input[field] !== undefined), 'NO_FIELDS'),
  ({ database, clock }: Context, { aid, ...input }, caller, call) =>
    database.transaction(call, async (tx) => {
      const known = await lockCaller(tx, caller);
      const data = {
        ...input,
        endpoint: input.endpoint === '' ? null : input.endpoint,
        metadata: input.metadata && merge(known.metadata as JsonObject, input.metadata),
        updated_at: clock.now(),
      };
      const agent = await tx.agent.update({ where: { aid }, data });
      await emitAgent(tx, 'updated', agent);
      const fields_updated = updatable.filter((field) => input[field] !== undefined);
      return { updated: true, aid, fields_updated, agent: withMetadata(agent) };
    }),
);

/** Member by member. The limits hold for the outcome. */
const merge = (stored: JsonObject, given: JsonObject) =>
  parseFields(mergedMetadata, { metadata: { ...stored, ...given } }).metadata as Record<string, never>;

const mergedMetadata = z.object({ metadata: agentMetadata });

/** Fields that may change, in the order in which the answer names them. */
const updatable = ['agent_name', 'capabilities', 'description', 'endpoint', 'metadata'] as const;
