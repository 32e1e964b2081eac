-- Statuses in the order of a task's life, priorities from least to most urgent: enums sort by this order.
CREATE TYPE task_status AS ENUM ('open', 'claimed', 'in_progress', 'review', 'done', 'failed', 'cancelled', 'expired');
CREATE TYPE task_priority AS ENUM ('low', 'normal', 'high', 'urgent');
CREATE TYPE claim_status AS ENUM ('pending', 'accepted', 'rejected', 'withdrawn');
CREATE TYPE message_type AS ENUM ('comment', 'status_update', 'question', 'result', 'system');

CREATE TABLE task (
  id uuid NOT NULL,
  creator_aid text NOT NULL,
  creator_name text NOT NULL,
  parent_id uuid,
  depth smallint NOT NULL DEFAULT 1,
  title text NOT NULL,
  description text NOT NULL,
  requirements text[],
  tags text[],
  status task_status NOT NULL DEFAULT 'open',
  priority task_priority NOT NULL DEFAULT 'normal',
  deadline timestamptz(3),
  ttl_minutes integer NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  assigned_aid text,
  assigned_name text,
  target_aid text,
  max_claims integer NOT NULL DEFAULT 1,
  claims_count integer NOT NULL DEFAULT 0,
  subtasks_count integer NOT NULL DEFAULT 0,
  result jsonb,
  result_text text,
  failure_reason text,
  workspace_id uuid,
  group_id uuid,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  claimed_at timestamptz(3),
  started_at timestamptz(3),
  completed_at timestamptz(3),
  CONSTRAINT task_pkey PRIMARY KEY (id),
  CONSTRAINT task_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES task (id) ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT task_depth_check CHECK (depth BETWEEN 1 AND 3),
  CONSTRAINT task_claims_check CHECK (claims_count BETWEEN 0 AND max_claims),
  CONSTRAINT task_open_check CHECK (status <> 'open' OR assigned_aid IS NULL),
  CONSTRAINT task_assigned_check CHECK (status NOT IN ('claimed', 'in_progress', 'review') OR assigned_aid IS NOT NULL)
);

CREATE INDEX task_parent_id_created_at_idx ON task (parent_id, created_at) WHERE parent_id IS NOT NULL;
CREATE INDEX task_creator_aid_created_at_idx ON task (creator_aid, created_at DESC);
CREATE INDEX task_assigned_aid_idx ON task (assigned_aid) WHERE assigned_aid IS NOT NULL;
CREATE INDEX task_workspace_id_idx ON task (workspace_id) WHERE workspace_id IS NOT NULL;
-- The board: open root tasks, newest first.
CREATE INDEX task_board_idx ON task (created_at DESC, id) WHERE status = 'open' AND parent_id IS NULL;
-- What the expiry job looks for.
CREATE INDEX task_expiring_idx ON task (expires_at) WHERE status IN ('open', 'claimed');

-- What belongs to a task has its id in front of the key, so that one index finds the rows of a task and no other is needed. There are no foreign
-- keys: rows are written only by statements that hold their task's row, tasks are never deleted, and each check would cost as much as the insert.

CREATE TABLE claim (
  task_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_aid text NOT NULL,
  agent_name text NOT NULL,
  status claim_status NOT NULL,
  message text,
  eta_minutes integer,
  match_score double precision,
  created_at timestamptz(3) NOT NULL,
  resolved_at timestamptz(3),
  CONSTRAINT claim_pkey PRIMARY KEY (task_id, id),
  CONSTRAINT claim_resolved_check CHECK ((status = 'pending') = (resolved_at IS NULL))
);

-- One live claim an agent and task, and one accepted claim a task, whatever races.
CREATE UNIQUE INDEX claim_live_key ON claim (agent_aid, task_id) WHERE status IN ('pending', 'accepted');
CREATE UNIQUE INDEX claim_accepted_key ON claim (task_id) WHERE status = 'accepted';

CREATE TABLE message (
  task_id uuid NOT NULL,
  id uuid NOT NULL,
  sender_aid text,
  sender_name text NOT NULL,
  msg_type message_type NOT NULL,
  content text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT message_pkey PRIMARY KEY (task_id, id),
  -- Only the service speaks without a sender, so that nobody can pass for it.
  CONSTRAINT message_sender_check CHECK ((msg_type = 'system') = (sender_aid IS NULL))
);

CREATE TABLE log_entry (
  task_id uuid NOT NULL,
  position bigserial NOT NULL,
  event text NOT NULL,
  actor_aid text,
  from_status task_status,
  to_status task_status NOT NULL,
  claim_id uuid,
  note text,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT log_entry_pkey PRIMARY KEY (task_id, position)
);

-- Ids of rows that a statement makes by itself: UUID version 7 (RFC 9562), so that they sort by time like those made by the service.
CREATE FUNCTION uuid_v7() RETURNS uuid
  LANGUAGE sql VOLATILE PARALLEL SAFE
  AS $$
    SELECT encode(
      overlay(
        set_bit(set_bit(uuid_send(gen_random_uuid()), 52, 1), 53, 1)
        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6
      ), 'hex')::uuid
  $$;
