-- Lets a failed instance go on from the step that failed: the visit is the same, so is its idempotency key, and it has
-- its attempts anew. Answers with the occupant where its business key was taken meanwhile.
--
-- Index: the primary key; gen_durable_correlation, which settles the race with a start of the same key. $1 id
WITH failed AS MATERIALIZED (
  SELECT g.id,
    (SELECT o.id FROM {schema}.gen_durable o WHERE o.correlation_guard = g.correlation_key AND o.id <> g.id
       AND 'runnable' = ANY (g.correlation_scope)) AS occupant
  FROM {schema}.gen_durable g
  WHERE g.id = $1 AND g.status::text = 'failed'
  FOR NO KEY UPDATE OF g
), again AS (
  UPDATE {schema}.gen_durable g
  SET status = 'runnable', errors = 0, crashes = 0, eligible_at = now(), updated_at = now(),
      cancelled_at = NULL, cancel_reason = NULL
  FROM failed f
  WHERE g.id = ANY (ARRAY[f.id]) AND f.occupant IS NULL
  RETURNING g.id, g.queue
)
SELECT f.id, f.occupant, a.queue FROM failed f LEFT JOIN again a ON a.id = f.id
