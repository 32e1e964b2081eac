-- Links by which an agent's owner opens the dashboard: good once, for ten minutes, and outliving a restart. By the SHA-256 of their text.
CREATE TABLE connect_token (
  hash bytea NOT NULL,
  aid text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT connect_token_pkey PRIMARY KEY (hash),
  CONSTRAINT connect_token_aid_fkey FOREIGN KEY (aid) REFERENCES agent (aid) ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX connect_token_aid_idx ON connect_token (aid);

-- jsonb writes a number like 1e308 out in 309 digits; json keeps what was sent, so that what is read is as bounded as what was written.
ALTER TABLE agent ALTER COLUMN metadata DROP DEFAULT;
ALTER TABLE agent ALTER COLUMN metadata TYPE json USING metadata::json;
ALTER TABLE agent ALTER COLUMN metadata SET DEFAULT '{}';
