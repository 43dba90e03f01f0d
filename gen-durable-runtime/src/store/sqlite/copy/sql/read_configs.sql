-- Every limit and gate. Index: the primary key.
SELECT
  kind, name, rate, capacity, shards
FROM gen_durable_bucket_configs
ORDER BY kind, name
