import type { Transaction } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Principal } from '@acsp/operation';
import type { Context } from '../context.js';
import type { Agent, PrismaClient } from '../generated/prisma/client.js';

/** The row of an active agent. A revoked one is as unknown as one that never was. */
export async function findAgent({ database }: Context, aid: string): Promise<Agent> {
  return known(await database.prisma.agent.findUnique({ where: { aid, status: 'active' } }));
}

/** The row of an agent, active or not. */
export async function findEndedToo({ database }: Context, aid: string): Promise<Agent> {
  return known(await database.prisma.agent.findUnique({ where: { aid } }));
}

/** The row of an active agent inside of a transaction, locked until its end, so that changes of one agent and its keys come one after another. */
export async function lockAgent(tx: Transaction<PrismaClient>, aid: string): Promise<Agent> {
  const [agent] = await tx.$queryRaw<Agent[]>`
    SELECT * FROM agent WHERE aid = ${aid} AND status = 'active' FOR NO KEY UPDATE`;
  return known(agent);
}

/** The same for a caller. A request of a former life that arrives in the present one finds its agent deleted. */
export async function lockCaller(tx: Transaction<PrismaClient>, caller: Principal & { aid: string }): Promise<Agent> {
  const agent = await lockAgent(tx, caller.aid);
  if (!isOfThisLife(agent, caller)) throw new AppError('AID_NOT_FOUND');
  return agent;
}

/** An agent that was deleted and registered again has the same AID and another time of registration. */
export const isOfThisLife = ({ created_at }: Agent, { registeredAt }: Principal): boolean =>
  registeredAt === undefined || registeredAt === created_at.getTime();

function known(agent: Agent | null | undefined): Agent {
  if (agent === null || agent === undefined) throw new AppError('AID_NOT_FOUND');
  return agent;
}
