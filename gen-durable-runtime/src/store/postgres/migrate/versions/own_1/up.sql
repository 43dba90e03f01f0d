-- Our version 1, on version 3 of the seed. Columns are nullable or have a constant default, so that nothing is
-- rewritten and an Elixir engine goes on beside us. The index `signals_inbox` belongs to this version too; it
-- stands in files of its own, because on a large table it is built outside the transaction.
--
-- Only a schema that the Elixir migrator took down under us can have this table here.
DROP TABLE IF EXISTS {schema}.gen_durable_meta
-- ;;
-- One row: the version of our part, and the oldest program that can still work on it.
CREATE TABLE {schema}.gen_durable_meta (
  version     int not null,
  oldest_code int not null
)
-- ;;
CREATE UNIQUE INDEX gen_durable_meta_one_row ON {schema}.gen_durable_meta ((true))
-- ;;
-- transitions    steps committed so far: with the claim's token, the fence against a late commit
-- crashes        lost claims since the last progress, counted apart from errors
-- carry          facts that all steps of the machine share
-- received       the signals this visit received, the same for each of its retries; empty: timed out
-- errors                      of this visit: what `attempts` bounds (a `retry_in` is an attempt, not an error)
-- home_queue, home_priority   where a row goes back to after a step with a queue or priority of its own
ALTER TABLE {schema}.gen_durable
  ADD COLUMN transitions   bigint NOT NULL DEFAULT 0,
  ADD COLUMN crashes       int NOT NULL DEFAULT 0,
  ADD COLUMN carry         jsonb,
  ADD COLUMN received      bigint[],
  ADD COLUMN home_queue    text,
  ADD COLUMN home_priority smallint,
  ADD COLUMN errors int NOT NULL DEFAULT 0
-- ;;
-- A consumed signal with a dedup key stays, emptied and marked: it protects for the instance's life.
ALTER TABLE {schema}.signals ADD COLUMN consumed_at timestamptz
-- ;;
-- A row is updated on each claim and each commit, many times a second while it works. 30 % of each page stay
-- free, so that the new version of a row fits beside the old one and an update that touches no indexed column
-- stays HOT. It holds for new pages only: nothing is rewritten.
-- Every update leaves a dead row, and a claim walks over the dead entries of `gen_durable_pick`. The default,
-- a fifth of the table, would let a table with a million ended rows gather 200 000 of them; a hundredth keeps
-- the cost of a vacuum (it reads all indexes) in proportion to the table. The cost limit, ten times the default,
-- lets it catch up with a busy system. State above 2 kB lives in TOAST and is replaced there by every step.
ALTER TABLE {schema}.gen_durable SET (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_limit = 2000,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_analyze_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0.01,
  toast.autovacuum_vacuum_threshold = 1000,
  toast.autovacuum_vacuum_cost_limit = 2000
)
-- ;;
-- A signal is inserted, then deleted or marked once, which moves it out of an index and is never HOT: no fill
-- factor helps. Dead entries lie in front of the live inbox, so vacuum comes as early as above.
ALTER TABLE {schema}.signals SET (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_limit = 2000,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_analyze_threshold = 1000
)
-- ;;
INSERT INTO {schema}.gen_durable_meta (version, oldest_code) VALUES (1, 1)
