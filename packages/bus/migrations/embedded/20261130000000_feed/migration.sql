-- The feeds that agents read: what the second stream of a broker keeps. Appending is serialised by an advisory lock, as publishing is.
CREATE TABLE bus.feed (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  feed text NOT NULL,
  id uuid NOT NULL,
  event text NOT NULL,
  channel text,
  -- JSON, to the letter as it is sent.
  data text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (id, feed)
);

CREATE INDEX feed_by_feed ON bus.feed (feed, position);
CREATE INDEX feed_age ON bus.feed USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
