import type { Tasks } from './harness.js';

export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly audience: readonly string[];
  readonly actor: string | null;
  readonly payload: Readonly<Record<string, string>>;
}

/** The rows that the changes of a task have left: log entries, events and system messages, oldest first. */
export async function tracesOf({ context }: Tasks, taskId: string) {
  const { prisma } = context.database;
  const log = await prisma.logEntry.findMany({ where: { task_id: taskId }, orderBy: { position: 'asc' } });
  const events = await prisma.$queryRaw<EventRow[]>`
    SELECT id, type, audience, actor, payload FROM bus.outbox WHERE payload->>'task_id' = ${taskId} ORDER BY position`;
  const found = await prisma.message.findMany({ where: { task_id: taskId, msg_type: 'system' } });
  const order = events.map(({ payload }) => payload.message_id);
  const said = found.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  return { log, events, said };
}
