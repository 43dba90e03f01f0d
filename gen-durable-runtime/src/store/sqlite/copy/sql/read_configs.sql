-- Every limit and gate. Index: the primary key.
SELECT
  kind, name, rate, capacity, shards, by_operator
FROM gen_durable_bucket_configs
ORDER BY kind, name
