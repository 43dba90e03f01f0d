-- Due rows of one queue, most urgent first, with what limits them: what a claim under limits decides on.
--
-- Index: gen_durable_pick, a descent for each priority, so that neither a backlog that is due later nor rows that were set aside
-- are walked; gen_durable_concurrency_active for busy keys; the primary key of gen_durable_held.
-- ?1 queue  ?2 limit  ?3 known machines, versions and steps: [[machine, version, step], ..]
-- ?4 a row that crashed twice before is welcome  ?5 now  ?6 names of keys that are held to the end
WITH RECURSIVE levels (priority) AS (
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL)
SELECT * FROM (
SELECT d.id, d.priority, coalesce(d.due_at, d.eligible_at) AS due, d.concurrency_key, d.rate_limit, d.weight, d.crashes > 1 AS crashed, d.blocked_by IS NOT NULL AS was_blocked,
  CASE WHEN d.concurrency_name IN (SELECT value FROM json_each(?6)) THEN (
    SELECT h.shard FROM gen_durable_held h WHERE h.instance_id = d.id AND h.key = d.concurrency_key) END AS holds,
  d.concurrency_key IS NOT NULL AND EXISTS (
    SELECT 1 FROM gen_durable b
    WHERE b.concurrency_key = d.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL) AS busy
FROM levels CROSS JOIN gen_durable AS d INDEXED BY gen_durable_pick
WHERE d.queue = ?1 AND d.status = 'runnable' AND d.priority = levels.priority AND d.eligible_at <= ?5
  AND (d.fsm, d.fsm_version, d.step) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?3))
  AND (d.crashes <= 1 OR ?4)
LIMIT ?2) AS d
ORDER BY d.priority, d.due, d.id
