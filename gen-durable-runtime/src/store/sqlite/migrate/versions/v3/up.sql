-- Version 3: deadlines of machines and signals that leave any step; what the columns mean stands in our version 3 on Postgres.
ALTER TABLE gen_durable ADD COLUMN deadline_at INTEGER;
ALTER TABLE gen_durable ADD COLUMN expired_at INTEGER;
ALTER TABLE gen_durable ADD COLUMN expires INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gen_durable ADD COLUMN exit_signals TEXT CHECK (json_valid(exit_signals));
-- Instances whose time is up.
CREATE INDEX gen_durable_deadline ON gen_durable (deadline_at) WHERE deadline_at IS NOT NULL;
UPDATE gen_durable_meta SET version = 3;
