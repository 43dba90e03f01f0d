-- Takes back claims whose lease ended: their process died, or lost the database for too long. Counted as a crash.
-- Index: gen_durable_lease, in order, bounded by ?1. ?1 limit  ?2 now
UPDATE gen_durable AS g
SET status = CASE WHEN lost.key_taken THEN 'failed' ELSE 'runnable' END,
    last_error = CASE WHEN lost.key_taken THEN 'its business key has a newer occupant' ELSE g.last_error END,
    crashes = min(g.crashes, 2147483646) + 1, lease_expires_at = NULL, concurrency_shard = NULL, updated_at = ?2
FROM (
  SELECT g.id,
    -- Only a row with a foreign scope, that gave its key up while it executed, can meet a newer occupant.
    g.correlation_key IS NOT NULL AND g.correlation_guard IS NULL AND instr(g.correlation_scope, '"runnable"') > 0
      AND EXISTS (SELECT 1 FROM gen_durable o WHERE o.correlation_guard = g.correlation_key) AS key_taken
  FROM gen_durable g
  WHERE g.status = 'executing' AND g.lease_expires_at <= ?2
  ORDER BY g.lease_expires_at LIMIT ?1
) AS lost
WHERE g.id = lost.id
RETURNING queue
