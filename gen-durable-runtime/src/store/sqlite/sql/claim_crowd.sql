-- Of the first rows that are due, how many wait for a busy key. Index: gen_durable_pick; gen_durable_concurrency_active.
-- ?1 queue  ?2 now
SELECT count(*) AS crowd FROM (
  SELECT g.concurrency_key FROM gen_durable AS g INDEXED BY gen_durable_pick
  WHERE g.queue = ?1 AND g.status = 'runnable' AND g.eligible_at <= ?2
  ORDER BY g.priority, g.eligible_at LIMIT 1000) AS d
WHERE d.concurrency_key IS NOT NULL AND EXISTS (
  SELECT 1 FROM gen_durable b
  WHERE b.concurrency_key = d.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL)
