-- Takes our version 3 away. IF EXISTS, because the Elixir migrator may have dropped the tables, and a large index may
-- never have been built.
DROP INDEX IF EXISTS {schema}.gen_durable_deadline
-- ;;
ALTER TABLE IF EXISTS {schema}.gen_durable
  DROP COLUMN IF EXISTS deadline_at,
  DROP COLUMN IF EXISTS expired_at,
  DROP COLUMN IF EXISTS expires,
  DROP COLUMN IF EXISTS exit_signals
-- ;;
UPDATE {schema}.gen_durable_meta SET version = 2
