-- Takes our version 2 away. IF EXISTS, because the Elixir migrator may have dropped the tables, and a large index may
-- never have been built.
DROP INDEX IF EXISTS {schema}.gen_durable_join_deadline
-- ;;
DROP TABLE IF EXISTS {schema}.gen_durable_history
-- ;;
ALTER TABLE IF EXISTS {schema}.gen_durable
  DROP COLUMN IF EXISTS await_mode,
  DROP COLUMN IF EXISTS await_need,
  DROP COLUMN IF EXISTS await_groups,
  DROP COLUMN IF EXISTS parent_round,
  DROP COLUMN IF EXISTS child_index,
  DROP COLUMN IF EXISTS counted,
  DROP COLUMN IF EXISTS children_done,
  DROP COLUMN IF EXISTS children_quorum,
  DROP COLUMN IF EXISTS shielded,
  DROP COLUMN IF EXISTS cancelled_at,
  DROP COLUMN IF EXISTS cancel_reason
-- ;;
UPDATE {schema}.gen_durable_meta SET version = 1, oldest_code = 1
