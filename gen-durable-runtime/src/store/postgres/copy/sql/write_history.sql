-- gen_durable_history, as binary.rs writes it. Ids are taken as they come.
COPY {schema}.gen_durable_history (
  id, instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at, committed_at, error
) FROM STDIN (FORMAT binary)
