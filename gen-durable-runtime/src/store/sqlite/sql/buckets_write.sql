-- Sets counters, and makes those that are not there. Index: the primary key.
-- ?1 [[kind, key, shard, capacity, available, owed, refilled at, promised until], ..]
INSERT INTO gen_durable_buckets (kind, key, shard, capacity, available, owed, last_refill, promised_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7
FROM json_each(?1) AS i WHERE true
ON CONFLICT (kind, key, shard) DO UPDATE
SET capacity = excluded.capacity, available = excluded.available, owed = excluded.owed, last_refill = excluded.last_refill,
  promised_at = excluded.promised_at
