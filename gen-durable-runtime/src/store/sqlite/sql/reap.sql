-- Takes back claims whose lease ended: their process died, or lost the database for too long. Counted as a crash.
-- One whose business key was taken meanwhile is not taken back, and comes back as it is: it fails, as an outcome does.
-- Index: gen_durable_lease, in order, bounded by ?1. ?1 limit  ?2 now
UPDATE gen_durable AS g
SET status = CASE WHEN lost.key_taken THEN g.status ELSE 'runnable' END,
    crashes = min(g.crashes, 2147483646) + NOT lost.key_taken,
    lease_expires_at = CASE WHEN lost.key_taken THEN g.lease_expires_at END, concurrency_shard = NULL, updated_at = ?2
FROM (
  SELECT d.id, d.key IS NOT NULL AND (row_number() OVER (PARTITION BY d.key ORDER BY d.lease_expires_at, d.id) > 1
    OR EXISTS (SELECT 1 FROM gen_durable o WHERE o.correlation_guard = d.key)) AS key_taken
  FROM (
    SELECT g.id, g.lease_expires_at,
      -- Only a row with a foreign scope, that gave its key up while it executed, can meet another occupant: a newer
      -- one, or one that comes back with it.
      CASE WHEN g.correlation_guard IS NULL AND instr(g.correlation_scope, '"runnable"') > 0
        THEN g.correlation_key END AS key
    FROM gen_durable g
    WHERE g.status = 'executing' AND g.lease_expires_at <= ?2
    ORDER BY g.lease_expires_at LIMIT ?1
  ) AS d
) AS lost
WHERE g.id = lost.id
RETURNING queue, status = 'executing' AS key_taken, id, locked_by, transitions, parent_id, parent_round
