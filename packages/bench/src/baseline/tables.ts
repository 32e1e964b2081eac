import type pg from 'pg';

/** Rows as wide as those of tasks and identity, with what a list and a look-up need and nothing else. */
const tables = `
  CREATE TABLE IF NOT EXISTS task (
    id uuid PRIMARY KEY,
    creator_aid text NOT NULL,
    creator_name text NOT NULL,
    parent_id uuid,
    depth smallint NOT NULL DEFAULT 1,
    title text NOT NULL,
    description text NOT NULL,
    requirements text[],
    tags text[],
    status text NOT NULL DEFAULT 'open',
    priority text NOT NULL DEFAULT 'normal',
    deadline timestamptz,
    ttl_minutes integer NOT NULL DEFAULT 1440,
    expires_at timestamptz NOT NULL,
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
    created_at timestamptz NOT NULL,
    claimed_at timestamptz,
    started_at timestamptz,
    completed_at timestamptz
  );
  CREATE INDEX IF NOT EXISTS task_created_at ON task (created_at DESC) WHERE status = 'open';
  CREATE INDEX IF NOT EXISTS task_creator_aid ON task (creator_aid, created_at DESC);
  CREATE TABLE IF NOT EXISTS message (
    id uuid PRIMARY KEY,
    to_aid text NOT NULL,
    from_aid text NOT NULL,
    from_name text NOT NULL,
    content text NOT NULL,
    msg_type text NOT NULL DEFAULT 'text',
    thread_id text,
    metadata jsonb NOT NULL DEFAULT '{}',
    read boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL
  );
  CREATE INDEX IF NOT EXISTS message_to_aid ON message (to_aid, created_at DESC);
  CREATE INDEX IF NOT EXISTS message_from_aid ON message (from_aid, created_at DESC);
  CREATE TABLE IF NOT EXISTS agent (
    aid text PRIMARY KEY,
    public_key text NOT NULL,
    agent_name text NOT NULL,
    capabilities text[] NOT NULL,
    description text NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    status text NOT NULL DEFAULT 'active',
    created_at timestamptz NOT NULL
  )`;

export const createTables = (pool: pg.Pool) => pool.query(tables);

// One prepared statement a request. Names let PostgreSQL parse and plan each once a connection.

export const selectTask = { name: 'select-task', text: 'SELECT * FROM task WHERE id = $1' };

const listed = `id, creator_aid, creator_name, parent_id, title, description, requirements, tags, status, priority, deadline, expires_at,
  assigned_aid, claims_count, subtasks_count, created_at`;

export const selectTasks = {
  name: 'select-tasks',
  list: true,
  text: `SELECT ${listed} FROM task WHERE status = 'open' ORDER BY created_at DESC LIMIT 20`,
};

export const selectOwnTasks = {
  name: 'select-own-tasks',
  list: true,
  text: `SELECT ${listed} FROM task WHERE status = 'open' AND creator_aid = $1 ORDER BY created_at DESC LIMIT 20`,
};

export const insertTask = {
  name: 'insert-task',
  text: `INSERT INTO task (id, creator_aid, creator_name, title, description, requirements, tags, expires_at, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '1 day', now()) RETURNING *`,
};

export const updateTask = {
  name: 'update-task',
  text: `UPDATE task SET status = $2, assigned_aid = coalesce($3, assigned_aid), result_text = coalesce($4, result_text)
    WHERE id = $1 RETURNING *`,
};

export const insertAgent = {
  name: 'insert-agent',
  text: `INSERT INTO agent (aid, public_key, agent_name, capabilities, description, created_at)
    VALUES ($1, $2, $3, $4, $5, now()) RETURNING *`,
};

export const insertMessage = {
  name: 'insert-message',
  text: `INSERT INTO message (id, to_aid, from_aid, from_name, content, created_at) VALUES ($1, $2, $3, $4, $5, now()) RETURNING *`,
};

export const selectInbox = {
  name: 'select-inbox',
  list: true,
  text: 'SELECT * FROM message WHERE to_aid = $1 ORDER BY created_at DESC LIMIT 20',
};
