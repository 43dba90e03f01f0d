-- Notes slots that are held to the end of their instance. Index: the primary key. ?1 [[id, key, shard], ..]
INSERT INTO gen_durable_held (instance_id, key, shard)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) AS i WHERE true
ON CONFLICT (instance_id, key) DO NOTHING
