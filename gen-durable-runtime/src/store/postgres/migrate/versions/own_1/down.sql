-- Takes our version 1 away: back to what an Elixir engine at its version 3 knows. IF EXISTS, because the Elixir
-- migrator may have dropped the tables, and a large index may never have been built.
DROP INDEX IF EXISTS {schema}.signals_inbox
-- ;;
ALTER TABLE IF EXISTS {schema}.signals RESET (
  autovacuum_vacuum_scale_factor,
  autovacuum_vacuum_threshold,
  autovacuum_vacuum_cost_limit,
  autovacuum_analyze_scale_factor,
  autovacuum_analyze_threshold
)
-- ;;
ALTER TABLE IF EXISTS {schema}.gen_durable RESET (
  fillfactor,
  autovacuum_vacuum_scale_factor,
  autovacuum_vacuum_threshold,
  autovacuum_vacuum_cost_limit,
  autovacuum_analyze_scale_factor,
  autovacuum_analyze_threshold,
  toast.autovacuum_vacuum_scale_factor,
  toast.autovacuum_vacuum_threshold,
  toast.autovacuum_vacuum_cost_limit
)
-- ;;
ALTER TABLE IF EXISTS {schema}.signals DROP COLUMN IF EXISTS consumed_at
-- ;;
ALTER TABLE IF EXISTS {schema}.gen_durable
  DROP COLUMN IF EXISTS transitions,
  DROP COLUMN IF EXISTS crashes,
  DROP COLUMN IF EXISTS carry,
  DROP COLUMN IF EXISTS received,
  DROP COLUMN IF EXISTS home_queue,
  DROP COLUMN IF EXISTS home_priority,
  DROP COLUMN IF EXISTS errors
-- ;;
DROP TABLE {schema}.gen_durable_meta
