-- Locks the counters of some keys, in order: of one kind, of these names or of all, after a given key.
-- Index: the primary key. Lock: it waits, for claims and commits. $1 kind  $2 names, or all  $3 after  $4 limit of keys
WITH keys AS (
  SELECT DISTINCT b.key FROM {schema}.gen_durable_buckets b
  WHERE b.kind = $1 AND b.key > $3 AND ($2::text[] IS NULL OR split_part(b.key, ':', 1) = ANY ($2))
  ORDER BY b.key LIMIT $4
)
SELECT b.key, b.shard, b.capacity, b.available, b.owed,
  (extract(epoch FROM b.last_refill) * 1000000)::bigint AS refilled_us,
  (extract(epoch FROM b.promised_at) * 1000000)::bigint AS promised_us,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
FROM {schema}.gen_durable_buckets b
WHERE b.kind = $1 AND b.key = ANY (ARRAY(SELECT keys.key FROM keys))
ORDER BY b.key, b.shard
FOR UPDATE OF b
