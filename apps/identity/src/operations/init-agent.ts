import { InitAgentRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAgent, fieldsOf } from '@acsp/operation';
import { capabilities, description, ownAid } from '../agent/fields.js';
import { lockCaller } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { emitAgent } from '../events.js';
import { issueLoginKey } from '../login-key/issue-login-key.js';
import { loginKeyDays, newLoginKey } from '../login-key/new-login-key.js';

/** A new login key for a registered agent, which may bring its profile up to date on the way. */
export const initAgent = byAgent(
  fieldsOf(InitAgentRequestSchema)({
    aid: ownAid,
    capabilities: capabilities.optional(),
    description: description.optional(),
  }),
  async ({ database, clock }: Context, input, caller, call) => {
    const { aid } = caller;
    const { capabilities, description } = input;
    const key = newLoginKey(clock.now(), loginKeyDays);
    const agent = await database.transaction(call, async (tx) => {
      const known = await lockCaller(tx, caller);
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
  },
);
