-- Wakes rows that were set aside because nobody knew their code. Index: gen_durable_blocked. Lock: SKIP LOCKED.
-- $1 causes  $2 limit
UPDATE {schema}.gen_durable g
SET eligible_at = g.due_at, blocked_by = NULL, due_at = NULL, updated_at = now()
WHERE g.id = ANY (ARRAY(
  SELECT b.id FROM {schema}.gen_durable b
  WHERE b.blocked_by IS NOT NULL AND b.blocked_by = ANY ($1) AND b.status::text = 'runnable'
  LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED))
RETURNING g.queue
