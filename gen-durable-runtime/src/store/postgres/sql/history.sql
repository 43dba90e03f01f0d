-- A page of what became of the runs of an instance. Index: gen_durable_history_instance, from the line on.
-- $1 id  $2 limit  $3 after this line
SELECT h.id, h.visit, h.from_step, h.to_step, h.outcome, h.attempt, h.worker, h.error,
  (extract(epoch FROM h.started_at) * 1000000)::bigint AS started_us,
  (extract(epoch FROM h.committed_at) * 1000000)::bigint AS committed_us
FROM {schema}.gen_durable_history h
WHERE h.instance_id = $1 AND h.id > $3
ORDER BY h.id
LIMIT $2
