CREATE TYPE thread_status AS ENUM ('open', 'negotiating', 'agreed', 'rejected', 'expired', 'closed');
CREATE TYPE thread_role AS ENUM ('initiator', 'responder');
CREATE TYPE thread_message_type AS ENUM ('offer', 'counter', 'accept', 'reject', 'info');

CREATE TABLE thread (
  id uuid NOT NULL,
  initiator_aid text NOT NULL,
  responder_aid text NOT NULL,
  initial_offer json NOT NULL,
  status thread_status NOT NULL DEFAULT 'open',
  latest_offer_by thread_role NOT NULL DEFAULT 'initiator',
  messages_count integer NOT NULL DEFAULT 0,
  ttl_hours double precision NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT thread_pkey PRIMARY KEY (id),
  CONSTRAINT thread_parties_check CHECK (initiator_aid <> responder_aid)
) WITH (fillfactor = 80);

-- Lists merge one range for each side and status, each in the order of the list. expires_at comes along, so that counting does not visit the rows.
CREATE INDEX thread_initiated_idx ON thread (initiator_aid, status, created_at DESC, id DESC) INCLUDE (expires_at);
CREATE INDEX thread_received_idx ON thread (responder_aid, status, created_at DESC, id DESC) INCLUDE (expires_at);
-- Threads that ran out and whose rows do not say so yet: those of one agent for its lists, and all of them for the sweep.
CREATE INDEX thread_initiated_expiring_idx ON thread (initiator_aid, expires_at) WHERE status IN ('open', 'negotiating');
CREATE INDEX thread_received_expiring_idx ON thread (responder_aid, expires_at) WHERE status IN ('open', 'negotiating');
CREATE INDEX thread_expiring_idx ON thread (expires_at) WHERE status IN ('open', 'negotiating');

-- Numbers have no gaps, because the row of the thread, which counts them, is locked by whoever adds one.
CREATE TABLE thread_message (
  thread_id uuid NOT NULL,
  number integer NOT NULL,
  id uuid NOT NULL,
  sender_aid text NOT NULL,
  message_type thread_message_type NOT NULL,
  payload json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT thread_message_pkey PRIMARY KEY (thread_id, number),
  CONSTRAINT thread_message_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES thread (id) ON DELETE RESTRICT ON UPDATE CASCADE
);
