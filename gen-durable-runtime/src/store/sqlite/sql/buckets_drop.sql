-- Takes the counters of these keys away. Index: the primary key. ?1 kind  ?2 keys
DELETE FROM gen_durable_buckets WHERE kind = ?1 AND key IN (SELECT value FROM json_each(?2))
