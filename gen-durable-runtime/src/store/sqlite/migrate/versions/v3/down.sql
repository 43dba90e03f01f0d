-- Takes version 3 away.
DROP TABLE gen_durable_held;
DROP TABLE gen_durable_queues;
DROP TABLE gen_durable_workers;
DROP INDEX gen_durable_deadline;
DROP INDEX gen_durable_blocked;
-- What was set aside is due again: nobody else knows where it stands.
UPDATE gen_durable SET eligible_at = due_at WHERE blocked_by IS NOT NULL;
ALTER TABLE gen_durable DROP COLUMN deadline_at;
ALTER TABLE gen_durable DROP COLUMN expired_at;
ALTER TABLE gen_durable DROP COLUMN expires;
ALTER TABLE gen_durable DROP COLUMN exit_signals;
ALTER TABLE gen_durable DROP COLUMN blocked_by;
ALTER TABLE gen_durable DROP COLUMN due_at;
ALTER TABLE gen_durable_buckets DROP COLUMN promised_at;
ALTER TABLE gen_durable_buckets DROP COLUMN owed;
ALTER TABLE gen_durable_bucket_configs DROP COLUMN by_operator;
UPDATE gen_durable_meta SET version = 2;
DROP TABLE gen_durable_schedules;
