-- Version 1: what Postgres has at version 3 of the seed and version 1 of our own, under the same names.
--
-- A moment is an INTEGER, microseconds of the epoch; `infinity` is the largest one. A list (awaits, received,
-- correlation_scope) is a JSON array as text. Ids never come back: an old handle must not find a new instance.
CREATE TABLE gen_durable_meta (
  version     INTEGER NOT NULL,
  oldest_code INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gen_durable_meta_one_row ON gen_durable_meta ((true));

CREATE TABLE gen_durable (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  fsm               TEXT    NOT NULL,
  fsm_version       INTEGER NOT NULL DEFAULT 1,
  step              TEXT    NOT NULL,
  status            TEXT    NOT NULL DEFAULT 'runnable'
    CHECK (status IN ('runnable', 'executing', 'awaiting_signal', 'awaiting_children', 'done', 'failed')),
  state             TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(state)),
  carry             TEXT    CHECK (json_valid(carry)),
  result            TEXT    CHECK (json_valid(result)),
  awaits            TEXT    CHECK (json_valid(awaits)),
  received          TEXT    CHECK (json_valid(received)),

  queue             TEXT    NOT NULL DEFAULT 'default',
  priority          INTEGER NOT NULL DEFAULT 0,
  home_queue        TEXT,
  home_priority     INTEGER,

  -- Without a shard a claimed key is fenced by the unique index below (K = 1); with one by its bucket's CHECK.
  concurrency_key   TEXT,
  concurrency_shard INTEGER,
  concurrency_name  TEXT GENERATED ALWAYS AS (
    CASE WHEN instr(concurrency_key, ':') > 0 THEN substr(concurrency_key, 1, instr(concurrency_key, ':') - 1)
         ELSE concurrency_key END
  ) VIRTUAL,

  eligible_at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
  attempt           INTEGER NOT NULL DEFAULT 0,
  errors            INTEGER NOT NULL DEFAULT 0,
  crashes           INTEGER NOT NULL DEFAULT 0,
  transitions       INTEGER NOT NULL DEFAULT 0,
  last_error        TEXT,
  await_deadline    INTEGER,

  rate_limit        TEXT,
  weight            REAL    NOT NULL DEFAULT 1,

  locked_by         TEXT,
  lease_expires_at  INTEGER,

  parent_id         INTEGER REFERENCES gen_durable (id) ON DELETE SET NULL,
  children_pending  INTEGER NOT NULL DEFAULT 0,

  -- The guard is the key while the status is one in which the key counts as occupied, else NULL.
  correlation_key   TEXT,
  correlation_scope TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(correlation_scope)),
  correlation_guard TEXT GENERATED ALWAYS AS (
    CASE WHEN correlation_key IS NOT NULL AND instr(correlation_scope, '"' || status || '"') > 0
         THEN correlation_key END
  ) VIRTUAL,

  inserted_at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
  updated_at        INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER))
) STRICT;

-- The claim.
CREATE INDEX gen_durable_pick ON gen_durable (queue, priority, eligible_at) WHERE status = 'runnable';
-- Expired claims.
CREATE INDEX gen_durable_lease ON gen_durable (lease_expires_at) WHERE status = 'executing';
-- Waits whose time is up.
CREATE INDEX gen_durable_await_deadline ON gen_durable (await_deadline)
  WHERE status = 'awaiting_signal' AND await_deadline IS NOT NULL;
-- The K = 1 arbiter: at most one executing row per unconfigured key can ever be committed.
CREATE UNIQUE INDEX gen_durable_concurrency_active ON gen_durable (concurrency_key)
  WHERE status = 'executing' AND concurrency_key IS NOT NULL AND concurrency_shard IS NULL;
-- One occupant per business key, and the address of its signals.
CREATE UNIQUE INDEX gen_durable_correlation ON gen_durable (correlation_guard) WHERE correlation_guard IS NOT NULL;
-- Joins.
CREATE INDEX gen_durable_parent ON gen_durable (parent_id) WHERE parent_id IS NOT NULL;
-- Retention.
CREATE INDEX gen_durable_gc ON gen_durable (updated_at) WHERE status IN ('done', 'failed');

CREATE TABLE signals (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  target_id   INTEGER NOT NULL REFERENCES gen_durable (id) ON DELETE CASCADE,
  name        TEXT    NOT NULL,
  payload     TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(payload)),
  dedup_key   TEXT,
  inserted_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
  -- A consumed signal with a dedup key stays, emptied and marked: it protects for the instance's life.
  consumed_at INTEGER,
  UNIQUE (target_id, dedup_key)
) STRICT;
-- The inbox, by name and in order of arrival.
CREATE INDEX signals_target ON signals (target_id, name);
CREATE INDEX signals_inbox ON signals (target_id, id) WHERE consumed_at IS NULL;

CREATE TABLE gen_durable_bucket_configs (
  kind     TEXT    NOT NULL CHECK (kind IN ('rate', 'conc')),
  name     TEXT    NOT NULL,
  rate     REAL,
  capacity REAL    NOT NULL,
  shards   INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT;

-- The CHECK is the hard cap: an over-admission or a double credit cannot be committed.
CREATE TABLE gen_durable_buckets (
  kind        TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  shard       INTEGER NOT NULL,
  capacity    REAL    NOT NULL,
  available   REAL    NOT NULL,
  last_refill INTEGER,
  PRIMARY KEY (kind, key, shard),
  CHECK (available >= 0 AND available <= capacity)
) STRICT;

INSERT INTO gen_durable_meta (version, oldest_code) VALUES (1, 1);
