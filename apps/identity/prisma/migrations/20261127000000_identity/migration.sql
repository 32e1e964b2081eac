CREATE TYPE agent_status AS ENUM ('active', 'revoked');

CREATE TABLE agent (
  aid text NOT NULL,
  public_key text NOT NULL,
  agent_name text NOT NULL,
  capabilities text[],
  description text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  endpoint text,
  owner_id text,
  status agent_status NOT NULL DEFAULT 'active',
  region_id integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT agent_pkey PRIMARY KEY (aid),
  CONSTRAINT agent_aid_check CHECK (aid ~ '^[0-9a-f]{50}$'),
  CONSTRAINT agent_public_key_check CHECK (public_key ~ '^[0-9a-f]{64}$')
);

CREATE UNIQUE INDEX agent_public_key_key ON agent (public_key);
-- The health answer counts active agents, from this index alone.
CREATE INDEX agent_active_idx ON agent (status) WHERE status = 'active';

-- Login keys, by the SHA-256 of their text. An agent has ten live ones at most; issuing one clears away those that have expired.
CREATE TABLE login_key (
  hash bytea NOT NULL,
  aid text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT login_key_pkey PRIMARY KEY (hash),
  CONSTRAINT login_key_aid_fkey FOREIGN KEY (aid) REFERENCES agent (aid) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT login_key_hash_check CHECK (length(hash) = 32)
);

CREATE INDEX login_key_aid_idx ON login_key (aid);

-- Epsilon spent on two-party sessions, by UTC day. Exact, so that ten times 0.1 is 1. Spending clears away the days before.
CREATE TABLE privacy_budget (
  aid text NOT NULL,
  day date NOT NULL,
  spent numeric(8, 6) NOT NULL,
  CONSTRAINT privacy_budget_pkey PRIMARY KEY (aid, day),
  CONSTRAINT privacy_budget_aid_fkey FOREIGN KEY (aid) REFERENCES agent (aid) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT privacy_budget_spent_check CHECK (spent BETWEEN 0 AND 10)
);
