-- Events whose handler failed, in the database of the service that consumes them: so attempts outlive a restart, whatever the broker is.
CREATE TABLE bus.failed_event (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,
  -- An acsp.events.v1.Event.
  event bytea NOT NULL,
  -- blocking: a strict consumer stands at it; waiting: handled again at due_at; dead: given up, until somebody replays or drops it.
  state text NOT NULL CHECK (state IN ('blocking', 'waiting', 'dead')),
  attempts integer NOT NULL,
  error text NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now(),
  failed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);

CREATE INDEX failed_event_due ON bus.failed_event (consumer, due_at) WHERE state = 'waiting';
