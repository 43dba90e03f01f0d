-- Locks instances that may go and still have ended so long ago, and counts their signals, each to 10,001.
--
-- The lock keeps a retry and another engine's fan-out away until they are gone.
-- Index: the primary key; signals_target. Lock: UPDATE, SKIP LOCKED: with it their foreign keys are ours too.
-- $1 ids  $2 microseconds of age
WITH held AS MATERIALIZED (
  SELECT g.id FROM {schema}.gen_durable g
  WHERE g.id = ANY ($1) AND g.status::text IN ('done', 'failed') AND g.updated_at < now() - $2 * interval '1 microsecond'
  FOR UPDATE OF g SKIP LOCKED
)
SELECT h.id, (SELECT count(*) FROM (SELECT FROM {schema}.signals s WHERE s.target_id = h.id LIMIT 10001) s) AS signals
FROM held h
