-- Takes back the claims of one process that is known to be dead, before their lease ends. Counted as a crash.
-- Index: gen_durable_lease (every executing row is looked at, once per boot), bounded by $2. Lock: SKIP LOCKED.
-- $1 the process's prefix of locked_by  $2 limit
WITH lost AS MATERIALIZED (
  SELECT g.id,
    -- Only a row with a foreign scope, that gave its key up while it executed, can meet a newer occupant.
    g.correlation_key IS NOT NULL AND g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope)
      AND EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = g.correlation_key) AS key_taken
  FROM {schema}.gen_durable g
  WHERE g.status = 'executing' AND starts_with(g.locked_by, $1)
  LIMIT $2
  FOR NO KEY UPDATE OF g SKIP LOCKED
)
UPDATE {schema}.gen_durable g
SET status = CASE WHEN lost.key_taken THEN 'failed' ELSE 'runnable' END::{schema}.durable_status,
    last_error = CASE WHEN lost.key_taken THEN 'its business key has a newer occupant' ELSE g.last_error END,
    crashes = least(g.crashes, 2147483646) + 1, lease_expires_at = NULL, concurrency_shard = NULL, updated_at = now()
FROM lost WHERE g.id = lost.id AND lost.id * 0 = 0 -- expects one row: see commit.sql
RETURNING g.queue
