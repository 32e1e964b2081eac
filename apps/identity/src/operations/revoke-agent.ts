import { RevokeAgentRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAgent, fieldsOf } from '@acsp/operation';
import { agentAid } from '../agent/fields.js';
import { lockCaller } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { emitAgent } from '../events.js';

/** Ends the caller for good: its row stays, so that its AID cannot register again, but nobody finds it and none of its keys work. */
export const revokeAgent = byAgent(
  fieldsOf(RevokeAgentRequestSchema)({ aid: agentAid }),
  ({ database, clock }: Context, _input, caller, call) =>
    database.transaction(call, async (tx) => {
      const agent = await lockCaller(tx, caller);
      const { aid } = agent;
      await tx.agent.update({ where: { aid }, data: { status: 'revoked', updated_at: clock.now() } });
      await tx.loginKey.deleteMany({ where: { aid } });
      await emitAgent(tx, 'revoked', agent);
      return { revoked: true, aid };
    }),
);
