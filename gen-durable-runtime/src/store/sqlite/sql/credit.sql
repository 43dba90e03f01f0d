-- Gives slots back, each to the shard it came from; what is owed is paid first. Runs in the transaction that ends the runs.
-- Index: the primary key. ?1 [[key, shard], ..], each once per slot
UPDATE gen_durable_buckets AS b
SET owed = b.owed - min(b.owed, back.slots),
    available = min(b.capacity, b.available + back.slots - min(b.owed, back.slots))
FROM (
  SELECT i.value ->> 0 AS key, (i.value ->> 1) % max(coalesce(c.shards, 1), 1) AS shard, count(*) * 1.0 AS slots
  FROM json_each(?1) AS i
  LEFT JOIN gen_durable_bucket_configs AS c ON c.kind = 'conc'
    AND c.name = substr(i.value ->> 0, 1, instr(i.value ->> 0 || ':', ':') - 1)
  GROUP BY 1, 2) AS back
WHERE b.kind = 'conc' AND b.key = back.key AND b.shard = back.shard
