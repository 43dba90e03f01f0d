-- The counters of these keys. Index: the primary key. ?1 [[kind, key], ..]
SELECT b.kind, b.key, b.shard, b.capacity, b.available, b.owed, b.last_refill, b.promised_at
FROM json_each(?1) AS i
JOIN gen_durable_buckets AS b ON b.kind = i.value ->> 0 AND b.key = i.value ->> 1
ORDER BY b.kind, b.key, b.shard
