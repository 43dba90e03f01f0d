-- Every line of history. Index: the primary key, or a sort.
SELECT
  id, instance_id, visit, from_step, to_step, outcome, attempt::bigint, worker,
  CASE started_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM started_at) * 1000000)::bigint END,
  CASE committed_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM committed_at) * 1000000)::bigint END,
  error
FROM {schema}.gen_durable_history
ORDER BY id
