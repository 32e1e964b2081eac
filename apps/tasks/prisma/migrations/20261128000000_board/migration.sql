-- With expires_at in it the board's index answers by itself how many tasks are open.
DROP INDEX task_board_idx;
CREATE INDEX task_board_idx ON task (created_at DESC, id) INCLUDE (expires_at) WHERE status = 'open' AND parent_id IS NULL;
