-- A position is taken while the task is locked, so a thread shows notices in the order of the changes, also where the clocks of replicas differ.
CREATE SEQUENCE message_position_seq AS bigint;
ALTER TABLE message ADD COLUMN position bigint;
UPDATE message SET position = earlier.position
FROM (SELECT task_id, id, row_number() OVER (ORDER BY created_at, id) AS position FROM message) AS earlier
WHERE message.task_id = earlier.task_id AND message.id = earlier.id;
SELECT setval('message_position_seq', (SELECT count(*) FROM message) + 1, false);
ALTER TABLE message ALTER COLUMN position SET DEFAULT nextval('message_position_seq');
ALTER TABLE message ALTER COLUMN position SET NOT NULL;
ALTER SEQUENCE message_position_seq OWNED BY message.position;
ALTER TABLE message DROP CONSTRAINT message_pkey;
ALTER TABLE message ADD CONSTRAINT message_pkey PRIMARY KEY (task_id, position);
