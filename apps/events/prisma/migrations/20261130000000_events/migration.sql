-- The stream that a token has opened last: one stream a token, and one that was open may be taken up again.
CREATE TABLE radio (
  token_id uuid NOT NULL,
  aid text NOT NULL,
  -- Counts the streams of the token.
  number integer NOT NULL,
  -- When it was last seen open, which is written down now and then.
  alive_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  CONSTRAINT radio_pkey PRIMARY KEY (token_id)
);
CREATE INDEX radio_alive_at_idx ON radio (alive_at);

-- What an agent watches, in one life of it: at most fifty others. The id is the name of its channel.
CREATE TABLE presence_watch (
  id uuid NOT NULL,
  aid text NOT NULL,
  since timestamptz(3) NOT NULL,
  watch_aids text[] NOT NULL CHECK (cardinality(watch_aids) BETWEEN 1 AND 50),
  CONSTRAINT presence_watch_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX presence_watch_aid_since_key ON presence_watch (aid, since);

-- How far the events of the bus have been written to the feeds.
CREATE TABLE feed_position (
  writer text NOT NULL,
  position text NOT NULL,
  CONSTRAINT feed_position_pkey PRIMARY KEY (writer)
);

-- Lives that ended a moment ago. Requests that were in flight may still commit, so what they leave is looked for again until none can come.
CREATE TABLE departure (
  aid text NOT NULL,
  registered_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  CONSTRAINT departure_pkey PRIMARY KEY (aid, registered_at)
);
