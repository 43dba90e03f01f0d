-- Every line of history. Index: the primary key.
SELECT
  id, instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at, committed_at, error
FROM gen_durable_history
ORDER BY id
