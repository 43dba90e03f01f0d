-- Of the first rows that are due, how many wait for a busy key. Index: gen_durable_pick, a descent for each priority;
-- gen_durable_concurrency_active. ?1 queue  ?2 now
WITH RECURSIVE levels (priority) AS (
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL)
SELECT count(*) AS crowd FROM (
  SELECT g.concurrency_key FROM levels CROSS JOIN gen_durable AS g INDEXED BY gen_durable_pick
  WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at <= ?2
  LIMIT 1000) AS d
WHERE d.concurrency_key IS NOT NULL AND EXISTS (
  SELECT 1 FROM gen_durable b
  WHERE b.concurrency_key = d.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL)
