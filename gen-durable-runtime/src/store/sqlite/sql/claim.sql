-- Due rows of one queue, most urgent first: what claim_take.sql may lease, in the same transaction.
--
-- Index: gen_durable_pick, a descent for each priority and then in order, so that LIMIT stops after the batch, and neither what is
-- due later nor what was set aside is walked; the look at busy keys is a probe of gen_durable_concurrency_active. There is one
-- writer, so what is due here is still due when it is taken.
-- Rows under a rate limit or a gate are told, and left to a claim under limits (candidates.sql).
-- ?1 queue  ?2 limit  ?3 known machines, versions and steps: [[machine, version, step], ..]
-- ?4 a row that crashed twice before is welcome  ?5 now
WITH RECURSIVE levels (priority) AS (
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL)
SELECT d.* FROM (
SELECT g.id, g.priority, g.eligible_at, g.concurrency_key, g.crashes,
  g.rate_limit IS NOT NULL OR (g.concurrency_key IS NOT NULL AND EXISTS (
    SELECT 1 FROM gen_durable_bucket_configs c WHERE c.kind = 'conc' AND c.name = g.concurrency_name)) AS limited
FROM levels CROSS JOIN gen_durable AS g INDEXED BY gen_durable_pick
WHERE g.queue = ?1
  AND g.status = 'runnable'
  AND g.priority = levels.priority
  AND g.eligible_at <= ?5
  AND (g.fsm, g.fsm_version, g.step) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?3))
  AND (g.crashes <= 1 OR ?4)
  AND (g.concurrency_key IS NULL OR NOT EXISTS (
    SELECT 1 FROM gen_durable b
    WHERE b.concurrency_key = g.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL))
LIMIT ?2) AS d
ORDER BY d.priority, d.eligible_at, d.id
