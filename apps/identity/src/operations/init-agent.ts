import { InitAgentRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { type Agent, type Call, fieldsOf } from '@acsp/operation';
import type { z } from 'zod';
import { capabilities, description, ownAid } from '../agent/fields.js';
import { lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { emitAgent } from '../events.js';
import { issueLoginKey } from '../login-key/issue-login-key.js';
import { loginKeyDays, newLoginKey } from '../login-key/new-login-key.js';

type Input = z.infer<typeof initAgentInput>;

/** A new login key for a registered agent, which may bring its profile up to date on the way. */
export async function initAgent({ database, clock }: Context, input: Input, { aid }: Agent, call: Call) {
  const { capabilities, description } = input;
  const key = newLoginKey(clock.now(), loginKeyDays);
  const agent = await database.transaction(call, async (tx) => {
    const known = await lockAgent(tx, aid);
    await issueLoginKey(tx, aid, key);
    if (capabilities === undefined && description === undefined) return known;
    const changed = await tx.agent.update({
      where: { aid },
      data: { capabilities, description, updated_at: key.createdAt },
    });
    await emitAgent(tx, 'updated', changed);
    return changed;
  });
  const { agent_name } = agent;
  return { aid, login_key: key.key, login_key_expires: key.expiresAt, agent_name, capabilities: agent.capabilities };
}

export const initAgentInput = fieldsOf(InitAgentRequestSchema)({
  aid: ownAid,
  capabilities: capabilities.optional(),
  description: description.optional(),
});
