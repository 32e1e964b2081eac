-- Events that are committed but perhaps not yet published. Rows stay a day after publication, so that a lost broker can be refilled:
-- UPDATE bus.outbox SET published_at = NULL WHERE published_at <> 'infinity'
-- A row that cannot be published at all is parked with published_at = 'infinity' and kept until somebody looks at it.
CREATE TABLE bus.outbox (
  position bigint GENERATED ALWAYS AS IDENTITY,
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

-- Every event is written twice, here and by its marking, so there is one small index for the relay, and for clearing away one that costs nothing
-- to keep.
CREATE UNIQUE INDEX outbox_unpublished ON bus.outbox (position) WHERE published_at IS NULL;
CREATE INDEX outbox_age ON bus.outbox USING brin (occurred_at) WITH (pages_per_range = 32, autosummarize = on);

-- Events that a consumer of this service has handled, for consumers that are not idempotent by themselves.
CREATE TABLE bus.processed (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);

CREATE INDEX processed_age ON bus.processed (processed_at);
