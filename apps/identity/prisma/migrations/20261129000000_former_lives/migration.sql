-- The timestamp of the signed registration, by the agent's clock; the epoch where the service made the key. What was signed before it was signed in a
-- former life of the agent.
ALTER TABLE agent ADD COLUMN signed_at timestamptz(3) NOT NULL DEFAULT 'epoch';

-- A deleted agent leaves a row without its data for as long as a registration that it signed before could still arrive.
ALTER TABLE agent ADD COLUMN deleted_at timestamptz(3);
ALTER TABLE agent ADD CONSTRAINT agent_deleted_check CHECK (deleted_at IS NULL OR status = 'revoked');
CREATE INDEX agent_deleted_idx ON agent (deleted_at) WHERE deleted_at IS NOT NULL;
