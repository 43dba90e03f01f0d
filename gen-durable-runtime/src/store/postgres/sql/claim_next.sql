-- When the next row of the queue is due, and when the next wait or instance of any queue is up.
-- Index: gen_durable_pick by a loose scan over its priorities; those of deadlines. $1 queue
SELECT
  (extract(epoch FROM (
    SELECT min((SELECT g.eligible_at FROM {schema}.gen_durable g
                WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority = p.priority AND g.eligible_at > now()
                  AND g.eligible_at < 'infinity'
                ORDER BY g.eligible_at LIMIT 1))
    FROM (
      WITH RECURSIVE levels AS (
        (SELECT g.priority FROM {schema}.gen_durable g
         WHERE g.queue = $1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
        UNION ALL
        SELECT (SELECT g.priority FROM {schema}.gen_durable g
                WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority > levels.priority
                ORDER BY g.priority LIMIT 1)
        FROM levels WHERE levels.priority IS NOT NULL)
      SELECT levels.priority FROM levels WHERE levels.priority IS NOT NULL) p)) * 1000000)::bigint AS due_us,
  (extract(epoch FROM least(
    (SELECT g.deadline_at FROM {schema}.gen_durable g
     WHERE g.deadline_at IS NOT NULL AND g.deadline_at < 'infinity' ORDER BY g.deadline_at LIMIT 1),
    (SELECT g.await_deadline FROM {schema}.gen_durable g
     WHERE g.status = 'awaiting_signal' AND g.await_deadline < 'infinity' ORDER BY g.await_deadline LIMIT 1),
    (SELECT g.await_deadline FROM {schema}.gen_durable g
     WHERE g.status = 'awaiting_children' AND g.await_deadline < 'infinity' ORDER BY g.await_deadline LIMIT 1))) * 1000000
  )::bigint AS deadline_us
