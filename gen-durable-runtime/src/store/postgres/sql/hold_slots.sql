-- Notes slots that are held to the end of their instance. Index: the primary key. $1 ids  $2 keys  $3 shards
INSERT INTO {schema}.gen_durable_held (instance_id, key, shard)
SELECT i.id, i.key, i.shard FROM unnest($1::bigint[], $2::text[], $3::smallint[]) AS i(id, key, shard)
ON CONFLICT (instance_id, key) DO NOTHING
