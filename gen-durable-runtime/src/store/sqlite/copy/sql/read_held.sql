-- Every slot that is held. Index: the primary key.
SELECT
  instance_id, key, shard
FROM gen_durable_held
ORDER BY instance_id, key
