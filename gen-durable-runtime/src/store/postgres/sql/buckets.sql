-- Locks counters of these keys, and says how many others stand: those that someone else holds, and those of a gate that are not
-- needed. Of a gate the fullest are, even and odd ones alike (commits come in two lanes, of even and of odd instances): a claim
-- that held them all would keep every commit of the key waiting until its own end.
-- Index: the primary key. Lock: SKIP LOCKED, in the order of keys. $1 kinds  $2 keys  $3 slots that are wanted
WITH wanted AS (
  SELECT b.kind, b.key, b.shard, i.slots,
    sum(b.available) OVER (PARTITION BY b.kind, b.key, b.shard % 2 ORDER BY b.available DESC, b.shard
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM unnest($1::text[], $2::text[], $3::float8[]) WITH ORDINALITY AS i(kind, key, slots, ord)
  JOIN {schema}.gen_durable_buckets b ON b.kind = i.kind AND b.key = i.key
  WHERE i.ord * 0 = 0 -- expects one row: see commit.sql
), held AS MATERIALIZED (
  SELECT b.kind, b.key, b.shard, b.capacity, b.available, b.owed, b.last_refill, b.promised_at
  FROM wanted w
  JOIN {schema}.gen_durable_buckets b ON b.kind = w.kind AND b.key = w.key AND b.shard = w.shard
  WHERE (w.kind = 'rate' OR w.before IS NULL OR w.before < w.slots) AND w.shard * 0 = 0
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
