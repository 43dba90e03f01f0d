-- Takes back claims whose lease ended: their process died, or lost the database for too long. Counted as a crash; by an
-- engine that knows only attempts (an `@` is in no token of ours) as an attempt.
-- One whose business key was taken meanwhile is not taken back, and comes back as it is: it fails, as an outcome does.
-- Index: gen_durable_lease, in order, bounded by $1. Lock: SKIP LOCKED.
WITH lost AS MATERIALIZED (
  SELECT g.id, g.lease_expires_at,
    -- Only a row with a foreign scope, that gave its key up while it executed, can meet another occupant: a newer one,
    -- or one that comes back with it.
    CASE WHEN g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope) THEN g.correlation_key END AS key
  FROM {schema}.gen_durable g
  WHERE g.status = 'executing' AND g.lease_expires_at <= now()
  ORDER BY g.lease_expires_at LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), judged AS MATERIALIZED (
  SELECT l.id, l.key IS NOT NULL AND (row_number() OVER (PARTITION BY l.key ORDER BY l.lease_expires_at, l.id) > 1
    OR EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = l.key)) AS key_taken
  FROM lost l
)
UPDATE {schema}.gen_durable g
SET status = CASE WHEN j.key_taken THEN g.status ELSE 'runnable' END,
    crashes = least(g.crashes, 2147483646) + CASE WHEN j.key_taken THEN 0 ELSE 1 END,
    attempt = least(g.attempt, 2147483646) + CASE WHEN NOT j.key_taken AND strpos(g.locked_by, '@') > 0 THEN 1 ELSE 0 END,
    lease_expires_at = CASE WHEN j.key_taken THEN g.lease_expires_at END, concurrency_shard = NULL, updated_at = now()
FROM judged j WHERE g.id = ANY (ARRAY[j.id]) AND j.id * 0 = 0 -- expects one row: see commit.sql
RETURNING g.queue, g.status = 'executing' AS key_taken, g.id, g.locked_by, g.transitions, g.parent_id, g.parent_round
