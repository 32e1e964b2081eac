import { Prisma } from '../generated/prisma/client.js';

// The conditions of state.ts that several statements ask, as SQL.

/** Of a task: whether it can still change, being neither terminal nor run out. */
export const notOver = (now: Date) => Prisma.sql`
  (status IN ('in_progress', 'review') OR status IN ('open', 'claimed') AND expires_at > ${now}::timestamptz)`;

/** A row where the agent has a pending or accepted claim on the task. */
export const liveClaim = (taskId: string, aid: string) => Prisma.sql`
  SELECT 1 FROM claim WHERE task_id = ${taskId}::uuid AND agent_aid = ${aid} AND status IN ('pending', 'accepted')`;
