-- Every paused queue. Index: the primary key, or a sort.
SELECT
  queue,
  CASE paused_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM paused_at) * 1000000)::bigint END
FROM {schema}.gen_durable_queues
ORDER BY queue
