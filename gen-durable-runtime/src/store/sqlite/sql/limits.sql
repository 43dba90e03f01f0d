-- The limits with these names. Index: the primary key. ?1 [[kind, name], ..]
SELECT c.kind, c.name, c.capacity, coalesce(c.rate, 0.0) AS rate, c.shards
FROM json_each(?1) AS i
JOIN gen_durable_bucket_configs AS c ON c.kind = i.value ->> 0 AND c.name = i.value ->> 1
