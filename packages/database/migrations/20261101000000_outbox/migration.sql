-- Events that are committed but perhaps not yet published. Rows stay a day after publication, so that a lost broker can be refilled:
-- UPDATE bus.outbox SET published_at = NULL WHERE published_at <> 'infinity'
-- A row that cannot be published at all is parked with published_at = 'infinity' and kept until somebody looks at it.
CREATE TABLE bus.outbox (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL,
  type text NOT NULL,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  audience text[] NOT NULL,
  actor text,
  payload jsonb NOT NULL,
  published_at timestamptz
)
-- Every row leaves the partial index soon after it entered: vacuum early, or the relay walks over dead entries.
WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX outbox_unpublished ON bus.outbox (position) WHERE published_at IS NULL;
CREATE INDEX outbox_published ON bus.outbox (published_at) WHERE published_at IS NOT NULL;

-- Events that a consumer of this service has handled, for consumers that are not idempotent by themselves.
CREATE TABLE bus.processed (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);

CREATE INDEX processed_age ON bus.processed (processed_at);
