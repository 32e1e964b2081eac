import { emit, type Transaction } from '@acsp/database';
import type { Agent, Prisma, PrismaClient } from '../generated/prisma/client.js';
import { agentEvent } from './event.js';

/** Changes the profile of a locked agent and tells of it. What is undefined stays as it is. */
export async function changeAgent(
  tx: Transaction<PrismaClient>,
  aid: string,
  data: Prisma.AgentUpdateInput,
): Promise<Agent> {
  const agent = await tx.agent.update({ where: { aid }, data });
  await emit(tx, agentEvent('updated', agent));
  return agent;
}
