import type { Context } from '../context.js';
import { changeEach } from './change-each.js';
import { decideExpiry } from './decide-end.js';

/** Writes down what readers already see: tasks that have run out are expired, their live claims rejected. */
export function expireTasks(context: Context, signal?: AbortSignal): Promise<void> {
  const { database, clock } = context;
  return changeEach(context, {
    find: ({ after, limit }) => database.prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM task WHERE status IN ('open', 'claimed') AND expires_at <= ${clock.now()}::timestamptz AND id > ${after}::uuid
      ORDER BY id LIMIT ${limit}::int`,
    decide: decideExpiry,
    signal,
  });
}
