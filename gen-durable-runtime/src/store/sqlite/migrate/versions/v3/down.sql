-- Takes version 3 away.
DROP INDEX gen_durable_deadline;
ALTER TABLE gen_durable DROP COLUMN deadline_at;
ALTER TABLE gen_durable DROP COLUMN expired_at;
ALTER TABLE gen_durable DROP COLUMN expires;
ALTER TABLE gen_durable DROP COLUMN exit_signals;
UPDATE gen_durable_meta SET version = 2;
