-- Every column of a list's filters and orders is in the index that it reads, so that neither pages nor totals visit the rows that they only pass.
-- deadline stands beside its expression, because the planner finds columns in an index, and no expressions.
DROP INDEX task_newest_idx;
DROP INDEX task_urgent_idx;
DROP INDEX task_soonest_idx;
CREATE INDEX task_newest_idx ON task (status, created_at DESC, id) INCLUDE (priority, expires_at) WHERE parent_id IS NULL;
CREATE INDEX task_urgent_idx ON task (status, priority DESC, id) INCLUDE (expires_at) WHERE parent_id IS NULL;
CREATE INDEX task_soonest_idx ON task (status, coalesce(deadline, 'infinity'), id) INCLUDE (priority, deadline, expires_at)
  WHERE parent_id IS NULL;

-- The tasks of one agent or workspace: newest first in the order of the index; other orders sort what the index alone says.
DROP INDEX task_creator_aid_created_at_idx;
DROP INDEX task_assigned_aid_idx;
DROP INDEX task_workspace_id_idx;
CREATE INDEX task_created_idx ON task (creator_aid, status, created_at DESC, id)
  INCLUDE (parent_id, priority, deadline, expires_at, workspace_id);
CREATE INDEX task_assigned_idx ON task (assigned_aid, status, created_at DESC, id)
  INCLUDE (parent_id, priority, deadline, expires_at, workspace_id) WHERE assigned_aid IS NOT NULL;
CREATE INDEX task_workspace_idx ON task (workspace_id, status, created_at DESC, id)
  INCLUDE (parent_id, priority, deadline, expires_at) WHERE workspace_id IS NOT NULL;
