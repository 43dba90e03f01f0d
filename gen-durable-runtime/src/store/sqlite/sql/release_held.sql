-- Forgets the held slots of instances that end, and says which they were. Index: the primary key. ?1 ids
DELETE FROM gen_durable_held WHERE instance_id IN (SELECT value FROM json_each(?1))
RETURNING key, shard
