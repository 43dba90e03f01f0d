-- How the instances of each queue stand, a line for each count.
-- Index: gen_durable_pick, by a loose scan over queues and priorities, each counted up to ?1 rows; gen_durable_lease for what runs;
-- gen_durable_blocked for what is set aside, up to ?2 rows; the newest ?2 instances for what is parked, which no index has.
-- ?3 now
WITH RECURSIVE levels(queue, priority) AS (
  SELECT * FROM (
    SELECT first.queue, first.priority FROM gen_durable AS first INDEXED BY gen_durable_pick
    WHERE first.status = 'runnable' ORDER BY first.queue, first.priority LIMIT 1)
  UNION ALL
  SELECT n.queue, n.priority FROM levels
  -- Not as one comparison of pairs: it would walk the rest of the queue.
  JOIN gen_durable AS n ON n.id = coalesce(
    (SELECT g.id FROM gen_durable AS g INDEXED BY gen_durable_pick
     WHERE g.status = 'runnable' AND g.queue = levels.queue AND g.priority > levels.priority ORDER BY g.priority LIMIT 1),
    (SELECT g.id FROM gen_durable AS g INDEXED BY gen_durable_pick
     WHERE g.status = 'runnable' AND g.queue > levels.queue ORDER BY g.queue, g.priority LIMIT 1))
), due AS (
  SELECT levels.queue,
    (SELECT count(*) FROM (
      SELECT 1 FROM gen_durable AS g INDEXED BY gen_durable_pick
      WHERE g.queue = levels.queue AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at <= ?3
        AND g.blocked_by IS NULL LIMIT ?1)) AS n,
    (SELECT g.eligible_at FROM gen_durable AS g INDEXED BY gen_durable_pick
     WHERE g.queue = levels.queue AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at <= ?3
       AND g.blocked_by IS NULL ORDER BY g.eligible_at LIMIT 1) AS oldest,
    (SELECT count(*) FROM (
      SELECT 1 FROM gen_durable AS g INDEXED BY gen_durable_pick
      WHERE g.queue = levels.queue AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at > ?3
        AND g.blocked_by IS NULL LIMIT ?1)) AS later
  FROM levels
), aside AS (
  SELECT e.queue, e.blocked_by LIKE 'key:%' OR e.blocked_by LIKE 'rate:%' OR e.blocked_by LIKE 'limit:%' AS limited
  FROM gen_durable AS e INDEXED BY gen_durable_blocked WHERE e.blocked_by IS NOT NULL LIMIT ?2
), newest AS (
  SELECT d.queue, d.status FROM gen_durable AS d ORDER BY d.id DESC LIMIT ?2
)
SELECT 'due' AS what, due.queue, sum(due.n) AS n, min(due.oldest) AS at, max(due.n >= ?1) AS more FROM due GROUP BY due.queue
UNION ALL
SELECT 'later', due.queue, sum(due.later), NULL, max(due.later >= ?1) FROM due GROUP BY due.queue
UNION ALL
SELECT 'running', t.queue, count(*), NULL, 0 FROM gen_durable AS t INDEXED BY gen_durable_lease
WHERE t.status = 'executing' GROUP BY t.queue
UNION ALL
SELECT CASE WHEN aside.limited THEN 'limited' ELSE 'blocked' END, aside.queue, count(*), NULL, (SELECT count(*) FROM aside) >= ?2
FROM aside GROUP BY aside.limited, aside.queue
UNION ALL
SELECT 'parked', newest.queue, count(*), NULL, (SELECT count(*) FROM newest) >= ?2
FROM newest WHERE newest.status IN ('awaiting_signal', 'awaiting_children') GROUP BY newest.queue
UNION ALL
SELECT 'paused', paused.queue, 0, paused.paused_at, 0 FROM gen_durable_queues AS paused
