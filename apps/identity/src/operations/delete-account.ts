import { DeleteAccountRequestSchema } from '@acsp/contracts/identity/v1/identity';
import type { Transaction } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { isOfThisLife, lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { emitAgent } from '../events.js';
import type { PrismaClient } from '../generated/prisma/client.js';

/**
 * Removes an agent with its keys and budget; other services remove theirs when they hear of it. The interface has this order of refusals:
 * confirm, form of the AID, existence, and only then whether the key is that agent's. So any caller gets here, a wrong key as nobody.
 */
export const deleteAccount = byAnyone(
  fieldsOf(DeleteAccountRequestSchema)({
    confirm: z.literal(true, 'CONFIRM_REQUIRED'),
    aid: agentAid,
  }),
  ({ database, clock }: Context, { aid }, caller, call) =>
    database.transaction(call, async (tx) => {
      const agent = await lockAgent(tx, aid);
      if (caller.aid !== aid || !isOfThisLife(agent, caller)) throw new AppError('INVALID_AUTH');
      await clearAgent(tx, aid, clock.now());
      await emitAgent(tx, 'deleted', agent);
      return { deleted: true, aid, message: 'The agent and its data are deleted; messages that it sent remain' };
    }),
);

/** The row stays for a while, without the agent's data, so that a registration signed before the deletion does not bring the agent back. */
async function clearAgent(tx: Transaction<PrismaClient>, aid: string, now: Date): Promise<void> {
  const texts = { agent_name: '', capabilities: [], description: '', metadata: {}, endpoint: null, owner_id: null };
  await tx.agent.update({ where: { aid }, data: { ...texts, status: 'revoked', deleted_at: now, updated_at: now } });
  await tx.loginKey.deleteMany({ where: { aid } });
  await tx.connectToken.deleteMany({ where: { aid } });
  await tx.privacyBudget.deleteMany({ where: { aid } });
}

/** Signatures are good for five minutes, and clocks may be off by as much. */
const keptMs = 3_600_000;

/** Removes the rows of agents that were deleted long ago. */
export const purgeDeleted = ({ database, clock }: Context) =>
  database.prisma.agent.deleteMany({ where: { deleted_at: { lt: new Date(clock.now().getTime() - keptMs) } } });
