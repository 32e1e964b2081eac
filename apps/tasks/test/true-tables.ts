import type { Tasks } from './harness.js';

/** The invariants that no race may break, for every task that there is. */
export async function expectTrueTables(tasks: Tasks): Promise<void> {
  const wrong = await tasks.context.database.prisma.$queryRaw`
    SELECT task.id, task.status, task.claims_count, live, accepted, pending FROM task
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE status IN ('pending', 'accepted'))::int AS live, count(*) FILTER (WHERE status = 'accepted')::int AS accepted,
        count(*) FILTER (WHERE status = 'pending')::int AS pending
      FROM claim WHERE claim.task_id = task.id
    ) AS counted
    WHERE task.claims_count <> live
      OR pending > 0 AND task.status <> 'open'
      OR task.status IN ('claimed', 'in_progress', 'review') AND accepted <> 1
      OR task.status = 'expired' AND live > 0
      OR task.status = 'open' AND accepted > 0`;
  expect(wrong).toEqual([]);
  const orphans = await tasks.context.database.prisma.$queryRaw`
    SELECT task_id FROM (SELECT task_id FROM claim UNION SELECT task_id FROM message UNION SELECT task_id FROM log_entry) AS part
    WHERE NOT EXISTS (SELECT FROM task WHERE task.id = part.task_id)`;
  expect(orphans).toEqual([]);
}
