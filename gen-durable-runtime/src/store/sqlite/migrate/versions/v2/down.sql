-- Takes version 2 away.
DROP INDEX gen_durable_join_deadline;
DROP TABLE gen_durable_history;
ALTER TABLE gen_durable DROP COLUMN await_mode;
ALTER TABLE gen_durable DROP COLUMN await_need;
ALTER TABLE gen_durable DROP COLUMN await_groups;
ALTER TABLE gen_durable DROP COLUMN parent_round;
ALTER TABLE gen_durable DROP COLUMN child_index;
ALTER TABLE gen_durable DROP COLUMN counted;
ALTER TABLE gen_durable DROP COLUMN children_done;
ALTER TABLE gen_durable DROP COLUMN children_quorum;
ALTER TABLE gen_durable DROP COLUMN shielded;
ALTER TABLE gen_durable DROP COLUMN cancelled_at;
ALTER TABLE gen_durable DROP COLUMN cancel_reason;
UPDATE gen_durable_meta SET version = 1, oldest_code = 1;
