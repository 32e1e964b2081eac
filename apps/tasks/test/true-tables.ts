type Query = (text: string) => Promise<unknown>;

/** The invariants that no race may break, for every task that there is. `query` answers the rows of a statement on the tables of tasks. */
export async function expectTrueTables(query: Query): Promise<void> {
  for (const [broken, text] of Object.entries(violations)) expect([broken, await query(text)]).toEqual([broken, []]);
}

const violations = {
  'the claims of a task fit its status and its count': `
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
      OR task.status = 'open' AND accepted > 0`,
  'every row belongs to a task': `
    SELECT task_id FROM (SELECT task_id FROM claim UNION SELECT task_id FROM message UNION SELECT task_id FROM log_entry) AS part
    WHERE NOT EXISTS (SELECT FROM task WHERE task.id = part.task_id)`,
  'a parent counts its subtasks': `
    SELECT id, subtasks_count FROM task WHERE subtasks_count <> (SELECT count(*) FROM task AS subtask WHERE subtask.parent_id = task.id)`,
  'each entry of the log begins where the one before it ended, and the last one ends at the status of the task': `
    SELECT task_id, event, from_status, ended FROM (
      SELECT *, lag(to_status) OVER (PARTITION BY task_id ORDER BY position) AS ended FROM log_entry
    ) AS entry WHERE from_status IS DISTINCT FROM ended
    UNION ALL
    SELECT id, NULL, status, last.to_status FROM task CROSS JOIN LATERAL (
      SELECT to_status FROM log_entry WHERE task_id = task.id ORDER BY position DESC LIMIT 1
    ) AS last WHERE status <> last.to_status`,
  'notices, log entries and events tell the same changes in the same order': `
    SELECT task_id, logged, noticed, published FROM (
      SELECT task_id, array_agg(event ORDER BY position) AS logged,
        (SELECT array_agg(metadata->>'event' ORDER BY position) FROM message WHERE task_id = log_entry.task_id AND msg_type = 'system') AS noticed,
        (SELECT array_agg(type ORDER BY position) FROM bus.outbox
         WHERE payload->>'task_id' = log_entry.task_id::text AND type <> 'task.message_posted') AS published
      FROM log_entry GROUP BY task_id
    ) AS changes WHERE logged IS DISTINCT FROM noticed OR logged IS DISTINCT FROM published`,
};
