-- The embedded bus: what JetStream keeps in its streams.

-- Publishing is serialised by an advisory lock, so positions become visible in order and a reader can go by its highest one.
CREATE TABLE bus.messages (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  subject text NOT NULL,
  event bytea NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX messages_age ON bus.messages (published_at);

-- Up to its position a consumer has handled everything, but for its retries.
CREATE TABLE bus.consumers (
  name text PRIMARY KEY,
  position bigint NOT NULL DEFAULT 0
);

CREATE TABLE bus.retries (
  consumer text NOT NULL REFERENCES bus.consumers ON DELETE CASCADE,
  position bigint NOT NULL,
  attempts integer NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (consumer, position)
);

CREATE INDEX retries_due ON bus.retries (consumer, due_at);

CREATE TABLE bus.dead_letters (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  subject text NOT NULL,
  event bytea NOT NULL,
  error text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);
