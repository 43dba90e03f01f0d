-- When the next wait ends, so that whoever ends waits need not be told by anyone; and whether there is any schedule, so that
-- nobody looks for one where there is none.
-- Index: gen_durable_await_deadline, gen_durable_join_deadline, gen_durable_deadline. ?1 now
SELECT min(d.at) - ?1 AS next_us, EXISTS (SELECT 1 FROM gen_durable_schedules AS one) AS schedules FROM (
  SELECT (SELECT g.await_deadline FROM gen_durable g
          WHERE g.status = 'awaiting_signal' AND g.await_deadline > ?1 AND g.await_deadline < 9223372036854775807
          ORDER BY g.await_deadline LIMIT 1) AS at
  UNION ALL
  SELECT (SELECT g.await_deadline FROM gen_durable g
          WHERE g.status = 'awaiting_children' AND g.await_deadline > ?1 AND g.await_deadline < 9223372036854775807
          ORDER BY g.await_deadline LIMIT 1)
  UNION ALL
  SELECT (SELECT g.deadline_at FROM gen_durable g
          WHERE g.deadline_at IS NOT NULL AND g.deadline_at > ?1 AND g.deadline_at < 9223372036854775807
          ORDER BY g.deadline_at LIMIT 1)) AS d
