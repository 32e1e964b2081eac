-- Answers under an Idempotency-Key, written by the commit that makes the change, so that a repetition finds what was done whatever died in between.
CREATE TABLE idempotency.answer (
  -- Digest of caller and key.
  key text NOT NULL PRIMARY KEY,
  -- Digest of the request: another request under the same key is refused.
  print text NOT NULL,
  status smallint NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX answer_age ON idempotency.answer (created_at);
