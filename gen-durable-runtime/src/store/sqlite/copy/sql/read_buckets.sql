-- Every bucket. Index: the primary key.
SELECT
  kind, key, shard, capacity, available, last_refill
FROM gen_durable_buckets
ORDER BY kind, key, shard
