import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { ruledColumns } from './columns.js';
import { changedColumns, ownHappening, recorded } from './record.js';

const batch = 200;

/** Writes down what readers already see: tasks that have run out are expired, their live claims rejected. */
export async function expireTasks(context: Context): Promise<void> {
  while ((await expireBatch(context)) === batch);
}

/** Locks first, so that the second statement sees every claim of the tasks that it ends. */
const expireBatch = ({ database, clock }: Context) =>
  database.transaction(async (tx) => {
    const now = clock.now();
    const due = await tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM task WHERE status IN ('open', 'claimed') AND expires_at <= ${now}::timestamptz
      ORDER BY expires_at LIMIT ${batch}::int FOR UPDATE SKIP LOCKED`;
    const ids = due.map(({ id }) => id);
    if (ids.length > 0) await tx.$executeRaw(expireStatement(ids, now));
    return ids.length;
  });

const expireStatement = (ids: readonly string[], now: Date) => Prisma.sql`
  WITH before AS (
    SELECT ${ruledColumns('task')}, ${ownHappening('The task has expired', now)} FROM task WHERE id = ANY (${ids}::uuid[])
  ),
  changed AS (
    UPDATE task SET status = 'expired', claims_count = 0 FROM before WHERE task.id = before.id RETURNING ${changedColumns}
  ),
  touched AS (
    UPDATE claim SET status = 'rejected', resolved_at = ${now}::timestamptz
    FROM changed WHERE claim.task_id = changed.id AND claim.status IN ('pending', 'accepted')
  ),
  ${recorded({ event: Prisma.sql`'task.expired'` })}
  SELECT count(*) FROM changed`;
