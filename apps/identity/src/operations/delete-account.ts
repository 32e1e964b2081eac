import { DeleteAccountRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { isOfThisLife, lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { emitAgent } from '../events.js';

/**
 * Removes an agent with its keys and budget; other services remove theirs when they hear of it. The interface has this order of refusals:
 * confirm, form of the AID, existence, and only then whether the key is that agent's. So any caller gets here, a wrong key as nobody.
 */
export const deleteAccount = byAnyone(
  fieldsOf(DeleteAccountRequestSchema)({
    confirm: z.literal(true, 'CONFIRM_REQUIRED'),
    aid: agentAid,
  }),
  ({ database }: Context, { aid }, caller, call) =>
    database.transaction(call, async (tx) => {
      const agent = await lockAgent(tx, aid);
      if (caller.aid !== aid || !isOfThisLife(agent, caller)) throw new AppError('INVALID_AUTH');
      await tx.agent.delete({ where: { aid } });
      await emitAgent(tx, 'deleted', agent);
      return { deleted: true, aid, message: 'The agent and its data are deleted; messages that it sent remain' };
    }),
);
