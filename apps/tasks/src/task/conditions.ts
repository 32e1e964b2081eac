import { Prisma } from '../generated/prisma/client.js';

// The conditions of state.ts that several statements ask, as SQL.

/** Of a task: whether it can still change, being neither terminal nor run out. */
export function notOver(table: 'task' | 'before', at: Prisma.Sql): Prisma.Sql {
  const [status, expiresAt] = [Prisma.raw(`${table}.status`), Prisma.raw(`${table}.expires_at`)];
  return Prisma.sql`(${status} IN ('in_progress', 'review') OR ${status} IN ('open', 'claimed') AND ${expiresAt} > ${at})`;
}

/** Of `before`: whether the agent that acts has a pending or accepted claim on the task. */
export const holdsLive = Prisma.sql`EXISTS (
  SELECT FROM claim WHERE claim.task_id = before.id AND claim.agent_aid = before.aid AND claim.status IN ('pending', 'accepted'))`;
