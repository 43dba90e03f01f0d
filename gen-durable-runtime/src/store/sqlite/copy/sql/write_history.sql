-- One row of gen_durable_history; its parameters are its columns.
INSERT INTO gen_durable_history (
  id, instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at, committed_at, error
) VALUES (
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
)
