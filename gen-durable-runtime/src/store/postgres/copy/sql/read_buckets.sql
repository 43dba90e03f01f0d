-- Every bucket. Index: the primary key, or a sort.
SELECT
  kind, key, shard::bigint, capacity, available,
  CASE last_refill WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM last_refill) * 1000000)::bigint END,
  CASE promised_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM promised_at) * 1000000)::bigint END, owed
FROM {schema}.gen_durable_buckets
ORDER BY kind, key, shard
