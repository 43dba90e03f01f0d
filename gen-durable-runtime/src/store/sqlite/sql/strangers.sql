-- Of the first rows that are due in a queue, those whose machine, version and step no live worker knows.
-- Index: gen_durable_pick, a descent for each priority.
-- ?1 queue  ?2 how many rows are looked at  ?3 known machines, versions and steps: [[machine, version, step], ..]
-- ?4 now  ?5 since when a worker must have been seen
WITH RECURSIVE levels (priority) AS (
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM gen_durable g
          WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL),
head AS MATERIALIZED (
  SELECT d.id, d.fsm, d.fsm_version, d.step
  FROM levels CROSS JOIN gen_durable AS d INDEXED BY gen_durable_pick
  WHERE d.queue = ?1 AND d.status = 'runnable' AND d.priority = levels.priority AND d.eligible_at <= ?4
  LIMIT ?2)
SELECT head.id, head.fsm || ':' || head.fsm_version || ':' || head.step AS code FROM head
WHERE (head.fsm, head.fsm_version, head.step) NOT IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?3))
  AND head.fsm || ':' || head.fsm_version || ':' || head.step NOT IN (
    SELECT c.value FROM gen_durable_workers AS w, json_each(w.codes) AS c WHERE w.seen_at > ?5)
