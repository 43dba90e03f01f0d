-- Gives slots back, each to the shard it came from; what is owed is paid first. Runs in the transaction that ends the runs.
-- Index: the primary key. Lock: in the order of keys, as counters.sql; it waits, for a claim or a commit of the same key.
-- $1 keys  $2 shards, each once per slot
WITH back AS (
  SELECT i.key, (i.shard % greatest(coalesce(c.shards, 1), 1))::smallint AS shard, count(*)::float8 AS slots
  FROM unnest($1::text[], $2::smallint[]) AS i(key, shard)
  LEFT JOIN {schema}.gen_durable_bucket_configs c ON c.kind = 'conc' AND c.name = split_part(i.key, ':', 1)
  GROUP BY 1, 2
), held AS MATERIALIZED (
  SELECT b.key, b.shard, back.slots
  FROM back JOIN {schema}.gen_durable_buckets b ON b.kind = 'conc' AND b.key = back.key AND b.shard = back.shard
  ORDER BY b.key, b.shard
  FOR UPDATE OF b
)
UPDATE {schema}.gen_durable_buckets b
SET owed = b.owed - least(b.owed, h.slots), available = least(b.capacity, b.available + h.slots - least(b.owed, h.slots))
FROM held h WHERE b.kind = 'conc' AND b.key = h.key AND b.shard = h.shard
