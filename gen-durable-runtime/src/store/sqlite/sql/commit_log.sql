-- Leaves a line of history for each row of a batch that still stands as its claim left it; run before commit.sql.
-- Index: the primary key; gen_durable_correlation.
-- ?1 [[id, token, transitions, step, outcome, error, when the run began, kind, it ends or is what a cancel
--    asks for], ..]  ?2 now
-- Materialized: as in commit.sql.
WITH i AS MATERIALIZED (SELECT key, value AS v FROM json_each(?1))
INSERT INTO gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at,
  committed_at, error)
SELECT l.id, l.transitions, l.from_step, CASE WHEN l.key_taken THEN NULL ELSE l.step END,
  CASE WHEN l.key_taken THEN 'failed' ELSE l.outcome END, l.attempt, l.locked_by, l.began, ?2,
  CASE WHEN l.key_taken THEN 'its business key has a newer occupant' ELSE l.error END
FROM (
  SELECT i.key AS ord, g.id, g.transitions, g.step AS from_step, i.v ->> 3 AS step, i.v ->> 4 AS outcome, g.attempt,
    g.locked_by, i.v ->> 6 AS began, i.v ->> 5 AS error,
    -- As in commit.sql: such a row fails.
    (i.v ->> 7) NOT IN (0, 4, 5) AND g.correlation_key IS NOT NULL AND g.correlation_guard IS NULL
      AND instr(g.correlation_scope, '"runnable"') > 0
      AND EXISTS (SELECT 1 FROM gen_durable o WHERE o.correlation_guard = g.correlation_key) AS key_taken
  FROM i
  JOIN gen_durable AS g ON g.id = i.v ->> 0 AND g.locked_by = i.v ->> 1 AND g.transitions = i.v ->> 2
  WHERE +g.status = 'executing' AND (g.cancelled_at IS NULL OR g.shielded OR i.v ->> 8)) AS l
ORDER BY l.ord
