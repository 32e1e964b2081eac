-- What a store holds where there is no Redis. An entry that has expired counts as absent; a periodic job deletes it.
CREATE TABLE store.entry (
  key text NOT NULL PRIMARY KEY,
  value text NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX entry_expiry ON store.entry (expires_at);

-- Windows of the rate limiter, written behind. Updates change no indexed column, and the free space of a page keeps them in it (HOT).
CREATE TABLE store.counter (
  -- Bucket and caller.
  key text NOT NULL PRIMARY KEY,
  count integer NOT NULL,
  resets_at timestamptz NOT NULL
) WITH (fillfactor = 50);
