-- Extends the lease of one claim whose row someone else holds, and waits for it: a waiter in line takes the row before
-- a reaper that skips locked ones can. Alone in its transaction, so it holds no other row. Index: the primary key.
--
-- The lock comes first and the clock is read after it: now() is when the statement began, and an UPDATE computes its
-- values before it waits.
-- $1 id  $2 token  $3 lease in microseconds
WITH held AS MATERIALIZED (
  SELECT g.id FROM {schema}.gen_durable g
  WHERE g.id = $1 AND g.locked_by = $2 AND g.status::text = 'executing'
  FOR NO KEY UPDATE OF g
)
UPDATE {schema}.gen_durable g SET lease_expires_at = clock_timestamp() + $3 * interval '1 microsecond'
FROM held WHERE g.id = ANY (ARRAY[held.id])
RETURNING g.id
