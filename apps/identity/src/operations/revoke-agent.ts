import type { RevokeAgentRequestSchema, RevokeAgentResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { emit } from '@acsp/database';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentEvent } from '../agent/event.js';
import { agentAid } from '../agent/fields.js';
import { lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';

/** Ends the caller for good: its row stays, so that its AID cannot register again, but nobody finds it and none of its keys work. */
export async function revokeAgent({ database, clock }: Context, _request: RevokeAgent, { aid }: Agent) {
  await database.transaction(async (tx) => {
    const agent = await lockAgent(tx, aid);
    await tx.agent.update({ where: { aid }, data: { status: 'revoked', updated_at: clock.now() } });
    await tx.loginKey.deleteMany({ where: { aid } });
    await emit(tx, agentEvent('revoked', agent));
  });
  return { revoked: true, aid } satisfies MessageInitShape<typeof RevokeAgentResponseSchema>;
}

type RevokeAgent = z.infer<typeof revokeAgentInput>;

export const revokeAgentInput = z.object({ aid: agentAid }) satisfies z.ZodType<
  MessageInitShape<typeof RevokeAgentRequestSchema>
>;
