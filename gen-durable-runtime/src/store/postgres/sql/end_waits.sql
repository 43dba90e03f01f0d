-- Ends waits whose time is up: back to runnable, where the claim settles that they timed out.
-- Index: gen_durable_await_deadline, in order, bounded by $1. Lock: SKIP LOCKED.
WITH due AS MATERIALIZED (
  SELECT g.id FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_signal' AND g.await_deadline <= now()
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
)
UPDATE {schema}.gen_durable g SET status = 'runnable', eligible_at = now(), updated_at = now()
FROM due WHERE g.id = due.id
RETURNING g.queue
