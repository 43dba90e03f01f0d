-- Forgets the held slots of instances that end, and says which they were. Index: the primary key. $1 ids
DELETE FROM {schema}.gen_durable_held h WHERE h.instance_id = ANY ($1)
RETURNING h.key, h.shard
