-- A change is decided on a task as it was read, and written where the version still holds.
ALTER TABLE task ADD COLUMN version integer NOT NULL DEFAULT 0;

-- Which life of an agent did it: an agent may be deleted and registered again, and its deletion concerns what the former life left.
ALTER TABLE task ADD COLUMN creator_since timestamptz(3) NOT NULL DEFAULT 'epoch';
ALTER TABLE claim ADD COLUMN agent_since timestamptz(3) NOT NULL DEFAULT 'epoch';

-- Lives that ended a moment ago. Requests that were in flight may still commit, so what they leave is looked for again until none can come.
CREATE TABLE departure (
  aid text NOT NULL,
  registered_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  CONSTRAINT departure_pkey PRIMARY KEY (aid, registered_at)
);

-- jsonb writes a number like 1e308 out in 309 digits; json keeps what was sent, so that what is read is as bounded as what was written.
ALTER TABLE task ALTER COLUMN metadata DROP DEFAULT;
ALTER TABLE task ALTER COLUMN metadata TYPE json USING metadata::json;
ALTER TABLE task ALTER COLUMN metadata SET DEFAULT '{}';
ALTER TABLE task ALTER COLUMN result TYPE json USING result::json;
ALTER TABLE message ALTER COLUMN metadata DROP DEFAULT;
ALTER TABLE message ALTER COLUMN metadata TYPE json USING metadata::json;
ALTER TABLE message ALTER COLUMN metadata SET DEFAULT '{}';

-- Root tasks of one status in each order of the list, so that a page reads no more rows than its offset and its length.
DROP INDEX task_board_idx;
CREATE INDEX task_newest_idx ON task (status, created_at DESC, id) WHERE parent_id IS NULL;
CREATE INDEX task_urgent_idx ON task (status, priority DESC, id) WHERE parent_id IS NULL;
CREATE INDEX task_soonest_idx ON task (status, coalesce(deadline, 'infinity'), id) WHERE parent_id IS NULL;

DROP FUNCTION uuid_v7();
