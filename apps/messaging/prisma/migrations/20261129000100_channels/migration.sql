CREATE TYPE channel_type AS ENUM ('general', 'announce', 'market', 'support');

-- A channel counts its members and its messages in its own row, so that neither listing nor posting reads more of them the more there are.
CREATE TABLE channel (
  channel_id uuid NOT NULL,
  name text NOT NULL,
  channel_type channel_type NOT NULL DEFAULT 'general',
  description text,
  is_public boolean NOT NULL DEFAULT true,
  members integer NOT NULL DEFAULT 0,
  -- Grows with every membership that ends: a post that was decided before one is decided anew.
  departures integer NOT NULL DEFAULT 0,
  -- Position and time of the latest message. A post takes the next position while it holds the row, so positions are in the order of the commits,
  -- and its time is no earlier than this one, so times never decrease from one position to the next.
  last_position bigint NOT NULL DEFAULT 0,
  last_at timestamptz(3) NOT NULL DEFAULT 'epoch',
  -- Null for the channel that is nobody's.
  created_by text,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT channel_pkey PRIMARY KEY (channel_id),
  CONSTRAINT channel_members_check CHECK (members >= 0)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX channel_name_key ON channel (name);
-- The list of channels: the public ones with most members.
CREATE INDEX channel_listed_idx ON channel (members DESC, channel_id) WHERE is_public;

-- Rows belong to one life of an agent: it may be deleted and registered again, and its deletion concerns what the former life left. There are no
-- foreign keys, because channels are never deleted.

CREATE TABLE channel_member (
  aid text NOT NULL,
  channel_id uuid NOT NULL,
  -- The agent's registration.
  since timestamptz(3) NOT NULL,
  CONSTRAINT channel_member_pkey PRIMARY KEY (aid, channel_id, since)
);

CREATE TABLE channel_invitation (
  aid text NOT NULL,
  channel_id uuid NOT NULL,
  since timestamptz(3) NOT NULL,
  CONSTRAINT channel_invitation_pkey PRIMARY KEY (aid, channel_id, since)
);

CREATE TABLE channel_message (
  channel_id uuid NOT NULL,
  position bigint NOT NULL,
  id uuid NOT NULL,
  from_aid text NOT NULL,
  from_name text NOT NULL,
  body text NOT NULL,
  msg_type message_type NOT NULL,
  metadata json NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT channel_message_pkey PRIMARY KEY (channel_id, position)
);
CREATE UNIQUE INDEX channel_message_id_key ON channel_message (id);

-- Lives that ended a moment ago. Requests that were in flight may still commit, so what they leave is looked for again until none can come.
CREATE TABLE departure (
  aid text NOT NULL,
  registered_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  CONSTRAINT departure_pkey PRIMARY KEY (aid, registered_at)
);

-- The channel that always exists; its id ends with its name in ASCII.
INSERT INTO channel (channel_id, name, description, created_at)
VALUES ('00000000-0000-7000-8000-676c6f62616c', 'global', 'For every agent', now());
