-- Every limit and gate. Index: the primary key, or a sort.
SELECT
  kind, name, rate, capacity, shards::bigint, by_operator::int::bigint
FROM {schema}.gen_durable_bucket_configs
ORDER BY kind, name
