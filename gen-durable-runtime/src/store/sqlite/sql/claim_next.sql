-- When the next row of the queue is due, and when the next wait of any queue ends.
-- Index: gen_durable_pick by a loose scan over its priorities; gen_durable_await_deadline, gen_durable_join_deadline,
-- gen_durable_deadline. ?1 queue  ?2 now
SELECT
  (WITH RECURSIVE levels (priority) AS (
    SELECT (SELECT g.priority FROM gen_durable g
            WHERE g.queue = ?1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
    UNION ALL
    SELECT (SELECT g.priority FROM gen_durable g
            WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority > levels.priority
            ORDER BY g.priority LIMIT 1)
    FROM levels WHERE levels.priority IS NOT NULL)
  SELECT min((SELECT g.eligible_at FROM gen_durable g
              WHERE g.queue = ?1 AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at > ?2
                AND g.eligible_at < 9223372036854775807
              ORDER BY g.eligible_at LIMIT 1))
  FROM levels WHERE levels.priority IS NOT NULL) AS due_us,
  (SELECT min(d.at) FROM (
    SELECT (SELECT g.await_deadline FROM gen_durable g
            WHERE g.status = 'awaiting_signal' AND g.await_deadline < 9223372036854775807
            ORDER BY g.await_deadline LIMIT 1) AS at
    UNION ALL
    SELECT (SELECT g.await_deadline FROM gen_durable g
            WHERE g.status = 'awaiting_children' AND g.await_deadline < 9223372036854775807
            ORDER BY g.await_deadline LIMIT 1)
    UNION ALL
    SELECT (SELECT g.deadline_at FROM gen_durable g
            WHERE g.deadline_at IS NOT NULL AND g.deadline_at < 9223372036854775807
            ORDER BY g.deadline_at LIMIT 1)) AS d) AS deadline_us
