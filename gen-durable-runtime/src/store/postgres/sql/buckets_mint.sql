-- Makes the counters of keys that had none, taken from already. Of two claims that make one key's the second waits for the
-- first, then gets fewer rows back than it gave: it is to be taken back as a whole. In the order of keys, so that no two
-- wait for each other. Index: the primary key.
-- $1 kinds  $2 keys  $3 shards  $4 capacities  $5 available  $6 refilled at  $7 promised until, microseconds of the epoch  $8 owed
INSERT INTO {schema}.gen_durable_buckets (kind, key, shard, capacity, available, last_refill, promised_at, owed)
SELECT i.kind, i.key, i.shard, i.capacity, i.available, to_timestamp(i.refilled_us / 1000000.0),
  to_timestamp(i.promised_us / 1000000.0), i.owed
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::float8[], $5::float8[], $6::bigint[], $7::bigint[],
  $8::float8[]) AS i(kind, key, shard, capacity, available, refilled_us, promised_us, owed)
ORDER BY i.kind, i.key COLLATE "C", i.shard
ON CONFLICT (kind, key, shard) DO NOTHING
RETURNING key
