-- Every bucket. Index: the primary key.
SELECT
  kind, key, shard, capacity, available, last_refill, promised_at, owed
FROM gen_durable_buckets
ORDER BY kind, key, shard
