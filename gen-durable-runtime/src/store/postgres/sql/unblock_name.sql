-- Wakes rows that waited for limits with these names to be known, or whose tokens were promised under other terms.
-- Index: gen_durable_blocked. Lock: SKIP LOCKED. $1 causes  $2 prefixes of causes, each with what follows the last of them  $3 limit
UPDATE {schema}.gen_durable g
SET eligible_at = g.due_at, blocked_by = NULL, due_at = NULL, updated_at = now()
WHERE g.id = ANY (ARRAY(
  SELECT b.id FROM {schema}.gen_durable b
  WHERE b.blocked_by IS NOT NULL AND b.status::text = 'runnable'
    AND (b.blocked_by = $1 OR (b.blocked_by >= $2 AND b.blocked_by < $2 || chr(1114111)))
  LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED))
RETURNING g.queue
