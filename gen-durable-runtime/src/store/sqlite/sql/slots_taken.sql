-- How many slots of these keys are taken, by shard: by rows that execute, and by those that hold one to their end.
-- Index: gen_durable_lease; gen_durable_held_key. ?1 keys
SELECT t.key, t.shard, count(*) AS slots
FROM (
  SELECT g.concurrency_key AS key, g.concurrency_shard AS shard FROM gen_durable AS g INDEXED BY gen_durable_lease
  WHERE g.status = 'executing' AND g.concurrency_shard IS NOT NULL
    AND g.concurrency_key IN (SELECT value FROM json_each(?1))
    AND NOT EXISTS (SELECT 1 FROM gen_durable_held h WHERE h.instance_id = g.id AND h.key = g.concurrency_key)
  UNION ALL
  SELECT h.key, h.shard FROM gen_durable_held h
  JOIN gen_durable g ON g.id = h.instance_id AND +g.status NOT IN ('done', 'failed')
  WHERE h.key IN (SELECT value FROM json_each(?1))) AS t
GROUP BY t.key, t.shard
