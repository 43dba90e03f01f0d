-- Version 3: deadlines of machines, signals that leave any step, limits that block rows; what the columns mean stands in our
-- version 3 on Postgres.
ALTER TABLE gen_durable ADD COLUMN deadline_at INTEGER;
ALTER TABLE gen_durable ADD COLUMN expired_at INTEGER;
ALTER TABLE gen_durable ADD COLUMN expires INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gen_durable ADD COLUMN exit_signals TEXT CHECK (json_valid(exit_signals));
ALTER TABLE gen_durable ADD COLUMN blocked_by TEXT;
ALTER TABLE gen_durable ADD COLUMN due_at INTEGER;
ALTER TABLE gen_durable_buckets ADD COLUMN promised_at INTEGER;
ALTER TABLE gen_durable_buckets ADD COLUMN owed REAL NOT NULL DEFAULT 0;
ALTER TABLE gen_durable_bucket_configs ADD COLUMN by_operator INTEGER NOT NULL DEFAULT 0;
-- Instances whose time is up.
CREATE INDEX gen_durable_deadline ON gen_durable (deadline_at) WHERE deadline_at IS NOT NULL;
-- Rows that were set aside, in the order in which they go on.
CREATE INDEX gen_durable_blocked ON gen_durable (blocked_by, priority, due_at) WHERE blocked_by IS NOT NULL;
-- Slots of `held` keys, from the first claim to the end of their instance.
CREATE TABLE gen_durable_held (
  instance_id INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  shard       INTEGER NOT NULL,
  PRIMARY KEY (instance_id, key)
) STRICT, WITHOUT ROWID;
-- How many slots of a key are held.
CREATE INDEX gen_durable_held_key ON gen_durable_held (key, shard);
-- Queues that are paused.
CREATE TABLE gen_durable_queues (
  queue     TEXT    PRIMARY KEY,
  paused_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Live workers: what they serve, and which machines, versions and steps they know.
CREATE TABLE gen_durable_workers (
  name       TEXT    PRIMARY KEY,
  queues     TEXT    NOT NULL CHECK (json_valid(queues)),
  codes      TEXT    NOT NULL CHECK (json_valid(codes)),
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
UPDATE gen_durable_meta SET version = 3;
-- Schedules; what the columns mean stands in our version 3 on Postgres.
CREATE TABLE gen_durable_schedules (
  name        TEXT    NOT NULL PRIMARY KEY,
  code        INTEGER NOT NULL,
  fsm         TEXT    NOT NULL,
  fsm_version INTEGER NOT NULL,
  step        TEXT    NOT NULL,
  every_us    INTEGER,
  cron        TEXT,
  tz          TEXT,
  skip_missed INTEGER NOT NULL,
  state       TEXT CHECK (json_valid(state)),
  carry       TEXT CHECK (json_valid(carry)),
  queue       TEXT,
  priority    INTEGER,
  delay_us    INTEGER NOT NULL DEFAULT 0,
  slot_field  TEXT,
  next_at     INTEGER,
  revision    INTEGER NOT NULL DEFAULT 1,
  paused_at   INTEGER,
  known_at    INTEGER,
  last_at     INTEGER,
  fired_at    INTEGER,
  last_id     INTEGER,
  last_new    INTEGER,
  missed_at   INTEGER,
  last_error  TEXT,
  inserted_at INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  CHECK ((every_us IS NULL) <> (cron IS NULL))
) STRICT;
-- Slots that have come, and the next one, of each machine.
CREATE INDEX gen_durable_schedules_next ON gen_durable_schedules (fsm, next_at)
  WHERE paused_at IS NULL AND next_at IS NOT NULL;
