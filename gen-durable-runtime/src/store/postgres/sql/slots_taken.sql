-- How many slots of these keys are taken, by shard: by rows that execute, and by those that hold one to their end.
-- Index: gen_durable_lease; gen_durable_held_key. Run when the counters are locked. $1 keys
SELECT t.key, t.shard, count(*) AS slots
FROM (
  SELECT g.concurrency_key AS key, g.concurrency_shard AS shard FROM {schema}.gen_durable g
  WHERE g.status = 'executing' AND g.lease_expires_at IS NOT NULL AND g.concurrency_shard IS NOT NULL
    AND g.concurrency_key = ANY ($1)
    AND NOT EXISTS (SELECT FROM {schema}.gen_durable_held h WHERE h.instance_id = g.id AND h.key = g.concurrency_key)
  UNION ALL
  SELECT h.key, h.shard FROM {schema}.gen_durable_held h
  JOIN {schema}.gen_durable g ON g.id = h.instance_id AND g.status::text NOT IN ('done', 'failed')
  WHERE h.key = ANY ($1)) t
GROUP BY t.key, t.shard
