/** The columns of a task that lists show, by name: a prepared statement with a star fails for good once a migration adds a column. */
export const summaryColumns =
  'id, creator_aid, creator_name, parent_id, title, description, requirements, tags, status, priority, deadline, expires_at, ' +
  'assigned_aid, claims_count, subtasks_count, created_at';
