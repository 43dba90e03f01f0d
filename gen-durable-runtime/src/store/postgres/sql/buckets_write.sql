-- Writes counters that are locked. Index: the primary key.
-- $1 kinds  $2 keys  $3 shards  $4 available  $5 owed  $6 refilled at  $7 promised until, microseconds of the epoch
UPDATE {schema}.gen_durable_buckets b
SET available = i.available, owed = i.owed, last_refill = to_timestamp(i.refilled_us / 1000000.0),
    promised_at = to_timestamp(i.promised_us / 1000000.0)
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::float8[], $5::float8[], $6::bigint[], $7::bigint[])
  WITH ORDINALITY AS i(kind, key, shard, available, owed, refilled_us, promised_us, ord)
WHERE b.kind = i.kind AND b.key = i.key AND b.shard = i.shard
  AND i.ord * 0 = 0 -- expects one row: see commit.sql
