-- How many slots of these keys are free. Index: gen_durable_concurrency_active; the primary keys of limits and counters.
-- ?1 keys
SELECT i.value AS key, CAST(CASE
  WHEN c.name IS NULL THEN NOT EXISTS (
    SELECT 1 FROM gen_durable b
    WHERE b.concurrency_key = i.value AND b.status = 'executing' AND b.concurrency_shard IS NULL)
  ELSE coalesce((
    SELECT sum(CAST(b.available AS INTEGER)) FROM gen_durable_buckets b
    WHERE b.kind = 'conc' AND b.key = i.value AND b.owed = 0), c.capacity) END AS INTEGER) AS slots
FROM json_each(?1) AS i
LEFT JOIN gen_durable_bucket_configs AS c ON c.kind = 'conc' AND c.name = substr(i.value, 1, instr(i.value || ':', ':') - 1)
