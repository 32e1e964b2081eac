import type { DeleteAccountRequestSchema, DeleteAccountResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { emit } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Principal } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentEvent } from '../agent/event.js';
import { agentAid } from '../agent/fields.js';
import { lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/**
 * Removes an agent with its keys and budget; other services remove theirs when they hear of it. The interface has this order of refusals:
 * confirm, form of the AID, existence, and only then whether the key is that agent's. So any caller gets here, a wrong key as nobody.
 */
export async function deleteAccount({ database }: Context, { aid }: DeleteAccount, caller: Principal) {
  await database.transaction(async (tx) => {
    const agent = await lockAgent(tx, aid);
    if (caller.aid !== aid) throw new AppError('INVALID_AUTH');
    await tx.agent.delete({ where: { aid } });
    await emit(tx, agentEvent('deleted', agent));
  });
  return {
    deleted: true,
    aid,
    message: 'The agent and what belonged to it are deleted; messages that it sent remain',
  } satisfies MessageInitShape<typeof DeleteAccountResponseSchema>;
}

type DeleteAccount = z.infer<typeof deleteAccountInput>;

export const deleteAccountInput = z.object({
  confirm: z.literal(true, 'CONFIRM_REQUIRED'),
  aid: agentAid,
}) satisfies z.ZodType<MessageInitShape<typeof DeleteAccountRequestSchema>>;
