import type { InitAgentRequestSchema, InitAgentResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { aid } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { changeAgent } from '../agent/change-agent.js';
import { capabilities, description } from '../agent/fields.js';
import { lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { issueLoginKey } from '../login-key/issue-login-key.js';
import { loginKeyDays, newLoginKey } from '../login-key/new-login-key.js';

/** A new login key for a registered agent, which may bring its profile up to date on the way. */
export async function initAgent({ database, clock }: Context, request: InitAgent, { aid }: Agent) {
  const key = newLoginKey(clock.now(), loginKeyDays);
  const agent = await database.transaction(async (tx) => {
    const known = await lockAgent(tx, aid);
    await issueLoginKey(tx, aid, key);
    const { capabilities, description } = request;
    if (capabilities === undefined && description === undefined) return known;
    return changeAgent(tx, aid, { capabilities, description, updated_at: key.createdAt });
  });
  return {
    aid,
    loginKey: key.key,
    loginKeyExpires: timestampFromDate(key.expiresAt),
    agentName: agent.agent_name,
    capabilities: agent.capabilities,
  } satisfies MessageInitShape<typeof InitAgentResponseSchema>;
}

type InitAgent = z.infer<typeof initAgentInput>;

export const initAgentInput = z.object({
  aid: aid({ missing: 'MISSING_FIELDS', code: 'INVALID_AID' }),
  capabilities: capabilities.optional(),
  description: description.optional(),
}) satisfies z.ZodType<MessageInitShape<typeof InitAgentRequestSchema>>;
