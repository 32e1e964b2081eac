-- no-transaction
-- A thread_id is a text of the agents' own, so many use the same: by that alone a history would read the messages of all of them.
-- An index whose making broke off is there and not valid.
DROP INDEX CONCURRENTLY IF EXISTS message_sent_thread_idx;
CREATE INDEX CONCURRENTLY message_sent_thread_idx ON message (from_aid, thread_id, created_at DESC, id DESC)
  WHERE from_aid IS NOT NULL AND thread_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS message_received_thread_idx;
CREATE INDEX CONCURRENTLY message_received_thread_idx ON message (to_aid, thread_id, created_at DESC, id DESC)
  WHERE thread_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS message_thread_idx;
