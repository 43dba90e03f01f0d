-- The counters of some keys, in order: of one kind, of these names or of all, after a given key.
-- Index: the primary key. ?1 kind  ?2 names, or all  ?3 after  ?4 limit of keys
SELECT b.key, b.shard, b.capacity, b.available, b.owed, b.last_refill, b.promised_at, c.capacity AS config_capacity, c.rate, c.shards
FROM gen_durable_buckets AS b
LEFT JOIN gen_durable_bucket_configs AS c ON c.kind = b.kind AND c.name = substr(b.key, 1, instr(b.key || ':', ':') - 1)
WHERE b.kind = ?1 AND b.key IN (
  SELECT DISTINCT k.key FROM gen_durable_buckets k
  WHERE k.kind = ?1 AND k.key > ?3
    AND (?2 IS NULL OR substr(k.key, 1, instr(k.key || ':', ':') - 1) IN (SELECT value FROM json_each(?2)))
  ORDER BY k.key LIMIT ?4)
ORDER BY b.key, b.shard
