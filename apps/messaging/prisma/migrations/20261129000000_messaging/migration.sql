CREATE TYPE message_type AS ENUM ('text', 'notification', 'request', 'response', 'system', 'match');

-- One row for each agent that has sent or received. It is locked by all that changes the agent's messages, so that its counts are exact and
-- created_at never goes back from one commit to the next: a reader's cursor cannot pass a message that commits later.
CREATE TABLE mailbox (
  aid text NOT NULL,
  total integer NOT NULL DEFAULT 0,
  unread integer NOT NULL DEFAULT 0,
  -- All items up to here are read, so that reading everything costs the same however much there is.
  read_to timestamptz(3) NOT NULL DEFAULT 'epoch',
  last_at timestamptz(3) NOT NULL DEFAULT 'epoch',
  CONSTRAINT mailbox_pkey PRIMARY KEY (aid),
  CONSTRAINT mailbox_unread_check CHECK (unread BETWEEN 0 AND total)
) WITH (fillfactor = 70);

CREATE TABLE message (
  id uuid NOT NULL,
  to_aid text NOT NULL,
  from_aid text,
  from_name text NOT NULL,
  content text NOT NULL,
  msg_type message_type NOT NULL,
  thread_id text,
  metadata json NOT NULL DEFAULT '{}',
  match_score double precision,
  read boolean NOT NULL DEFAULT false,
  "timestamp" text,
  signature text,
  verified boolean,
  notice_key text,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT message_pkey PRIMARY KEY (id)
);
CREATE INDEX message_received_idx ON message (to_aid, created_at DESC, id DESC);
CREATE INDEX message_unread_idx ON message (to_aid, created_at DESC, id DESC) WHERE NOT read;
CREATE INDEX message_sent_idx ON message (from_aid, created_at DESC, id DESC) WHERE from_aid IS NOT NULL;
CREATE INDEX message_pair_idx ON message (from_aid, to_aid, created_at DESC, id DESC) WHERE from_aid IS NOT NULL;
CREATE INDEX message_thread_idx ON message (thread_id, created_at DESC, id DESC) WHERE thread_id IS NOT NULL;
CREATE UNIQUE INDEX message_notice_idx ON message (to_aid, notice_key) WHERE notice_key IS NOT NULL;
