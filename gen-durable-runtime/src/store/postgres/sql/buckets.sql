-- Locks the counters of these keys, and says of which others stand that someone else holds.
-- Index: the primary key. Lock: SKIP LOCKED, in the order of keys. $1 kinds  $2 keys
WITH held AS MATERIALIZED (
  SELECT b.kind, b.key, b.shard, b.capacity, b.available, b.owed, b.last_refill, b.promised_at
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(kind, key, ord)
  JOIN {schema}.gen_durable_buckets b ON b.kind = i.kind AND b.key = i.key
  WHERE i.ord * 0 = 0 -- expects one row: see commit.sql
  ORDER BY b.kind, b.key, b.shard
  FOR UPDATE OF b SKIP LOCKED
)
SELECT i.kind, i.key, h.shard, h.capacity, h.available, h.owed,
  (extract(epoch FROM h.last_refill) * 1000000)::bigint AS refilled_us,
  (extract(epoch FROM h.promised_at) * 1000000)::bigint AS promised_us,
  (SELECT count(*) FROM {schema}.gen_durable_buckets b WHERE b.kind = i.kind AND b.key = i.key) AS stand,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
FROM unnest($1::text[], $2::text[]) AS i(kind, key)
LEFT JOIN held h ON h.kind = i.kind AND h.key = i.key
