-- Version 2: children, waits for several signals; what the columns mean stands in our version 2 on Postgres.
ALTER TABLE gen_durable ADD COLUMN await_mode INTEGER;
ALTER TABLE gen_durable ADD COLUMN await_need INTEGER;
ALTER TABLE gen_durable ADD COLUMN await_groups TEXT CHECK (json_valid(await_groups));
ALTER TABLE gen_durable ADD COLUMN parent_round INTEGER;
ALTER TABLE gen_durable ADD COLUMN child_index INTEGER;
ALTER TABLE gen_durable ADD COLUMN counted INTEGER;
ALTER TABLE gen_durable ADD COLUMN children_done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gen_durable ADD COLUMN children_quorum INTEGER;
ALTER TABLE gen_durable ADD COLUMN shielded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gen_durable ADD COLUMN cancelled_at INTEGER;
ALTER TABLE gen_durable ADD COLUMN cancel_reason TEXT;
-- Joins whose time is up.
CREATE INDEX gen_durable_join_deadline ON gen_durable (await_deadline)
  WHERE status = 'awaiting_children' AND await_deadline IS NOT NULL;
-- What became of each run. Lines go by their age.
CREATE TABLE gen_durable_history (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  instance_id  INTEGER NOT NULL,
  visit        INTEGER NOT NULL,
  from_step    TEXT    NOT NULL,
  to_step      TEXT,
  outcome      TEXT    NOT NULL,
  attempt      INTEGER NOT NULL,
  worker       TEXT,
  started_at   INTEGER NOT NULL,
  committed_at INTEGER NOT NULL,
  error        TEXT
) STRICT;
-- The history of one instance.
CREATE INDEX gen_durable_history_instance ON gen_durable_history (instance_id, id);
-- A program of version 1 would end a child without telling its parent.
UPDATE gen_durable_meta SET version = 2, oldest_code = 2;
