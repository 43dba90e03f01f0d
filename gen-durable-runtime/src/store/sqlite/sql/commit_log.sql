-- Leaves a line of history for each row of a batch that still stands as its claim left it; run before commit.sql.
-- Index: the primary key.
-- ?1 [[id, token, transitions, step, outcome, error, when the run began, it ends or is what a cancel asks for], ..]  ?2 now
INSERT INTO gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at,
  committed_at, error)
SELECT g.id, g.transitions, g.step, i.value ->> 3, i.value ->> 4, g.attempt, g.locked_by, i.value ->> 6, ?2,
  i.value ->> 5
FROM json_each(?1) AS i
JOIN gen_durable AS g ON g.id = i.value ->> 0 AND g.locked_by = i.value ->> 1 AND g.transitions = i.value ->> 2
WHERE +g.status = 'executing' AND (g.cancelled_at IS NULL OR g.shielded OR i.value ->> 7)
ORDER BY i.key
