-- Takes back the claims of one process that is known to be dead, before their lease ends. Counted as a crash. One whose
-- business key was taken meanwhile is not taken back, and comes back as it is: it fails, as an outcome does.
-- Index: gen_durable_lease (every executing row is looked at, once per boot), bounded by $2. Lock: SKIP LOCKED.
-- $1 the process's prefix of locked_by  $2 limit
WITH lost AS MATERIALIZED (
  SELECT g.id,
    -- Only a row with a foreign scope, that gave its key up while it executed, can meet another occupant: a newer one,
    -- or one that comes back with it.
    CASE WHEN g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope) THEN g.correlation_key END AS key
  FROM {schema}.gen_durable g
  WHERE g.status = 'executing' AND starts_with(g.locked_by, $1)
  LIMIT $2
  FOR NO KEY UPDATE OF g SKIP LOCKED
), judged AS MATERIALIZED (
  SELECT l.id, l.key IS NOT NULL AND (row_number() OVER (PARTITION BY l.key ORDER BY l.id) > 1
    OR EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = l.key)) AS key_taken
  FROM lost l
)
UPDATE {schema}.gen_durable g
SET status = CASE WHEN j.key_taken THEN g.status ELSE 'runnable' END,
    crashes = least(g.crashes, 2147483646) + CASE WHEN j.key_taken THEN 0 ELSE 1 END,
    lease_expires_at = CASE WHEN j.key_taken THEN g.lease_expires_at END, concurrency_shard = NULL, updated_at = now()
FROM judged j WHERE g.id = ANY (ARRAY[j.id]) AND j.id * 0 = 0 -- expects one row: see commit.sql
RETURNING g.queue, g.status = 'executing' AS key_taken, g.id, g.locked_by, g.transitions, g.parent_id, g.parent_round
