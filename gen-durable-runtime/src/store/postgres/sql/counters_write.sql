-- Sets counters that are locked; a key's shards that are not named go. Index: the primary key.
-- $1 kind  $2 keys  $3 shards  $4 capacities  $5 available  $6 owed  $7 refilled at  $9 promised until, microseconds of the epoch  $8 all keys
WITH gone AS (
  DELETE FROM {schema}.gen_durable_buckets b
  WHERE b.kind = $1 AND b.key = ANY ($8)
    AND NOT EXISTS (SELECT FROM unnest($2::text[], $3::smallint[]) AS i(key, shard) WHERE i.key = b.key AND i.shard = b.shard)
)
INSERT INTO {schema}.gen_durable_buckets AS b (kind, key, shard, capacity, available, owed, last_refill, promised_at)
SELECT $1, i.key, i.shard, i.capacity, i.available, i.owed, to_timestamp(i.refilled_us / 1000000.0),
  to_timestamp(i.promised_us / 1000000.0)
FROM unnest($2::text[], $3::smallint[], $4::float8[], $5::float8[], $6::float8[], $7::bigint[],
  $9::bigint[]) AS i(key, shard, capacity, available, owed, refilled_us, promised_us)
ON CONFLICT (kind, key, shard) DO UPDATE
SET capacity = excluded.capacity, available = excluded.available, owed = excluded.owed, last_refill = excluded.last_refill,
  promised_at = excluded.promised_at
