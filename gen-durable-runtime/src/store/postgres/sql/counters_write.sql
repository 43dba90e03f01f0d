-- Sets counters that are locked; those of them that are not named go, and those that did not stand are made. One that came since
-- the locks were taken is left to the next count: whoever holds it may be waiting for these.
-- Index: the primary key.
-- $1 kind  $2 keys  $3 shards  $4 capacities  $5 available  $6 owed  $7 refilled at  $9 promised until, microseconds of the epoch
-- $8 keys and $10 shards of the locked rows
WITH locked AS MATERIALIZED (
  SELECT l.key, l.shard FROM unnest($8::text[], $10::smallint[]) AS l(key, shard)
), gone AS (
  DELETE FROM {schema}.gen_durable_buckets b USING locked l
  WHERE b.kind = $1 AND b.key = l.key AND b.shard = l.shard AND l.shard * 0 = 0 -- expects one row: see commit.sql
    AND NOT EXISTS (SELECT FROM unnest($2::text[], $3::smallint[]) AS i(key, shard) WHERE i.key = b.key AND i.shard = b.shard)
)
INSERT INTO {schema}.gen_durable_buckets AS b (kind, key, shard, capacity, available, owed, last_refill, promised_at)
SELECT $1, i.key, i.shard, i.capacity, i.available, i.owed, to_timestamp(i.refilled_us / 1000000.0),
  to_timestamp(i.promised_us / 1000000.0)
FROM unnest($2::text[], $3::smallint[], $4::float8[], $5::float8[], $6::float8[], $7::bigint[],
  $9::bigint[]) AS i(key, shard, capacity, available, owed, refilled_us, promised_us)
WHERE (i.key, i.shard) IN (SELECT l.key, l.shard FROM locked l)
  OR NOT EXISTS (SELECT FROM {schema}.gen_durable_buckets o WHERE o.kind = $1 AND o.key = i.key AND o.shard = i.shard)
ON CONFLICT (kind, key, shard) DO UPDATE
SET capacity = excluded.capacity, available = excluded.available, owed = excluded.owed, last_refill = excluded.last_refill,
  promised_at = excluded.promised_at
