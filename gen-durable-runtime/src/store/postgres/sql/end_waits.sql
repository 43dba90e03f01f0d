-- Ends waits and instances whose time is up, those that have been due for longest first. A wait goes back to runnable, where
-- the claim settles that it timed out; an instance whose deadline passed is marked, once, and is due at once unless its
-- step is exempt. Says when the next one is up, so that whoever ends waits need not be told by anyone; and whether there is
-- any schedule, so that nobody looks for one where there is none.
-- Index: gen_durable_await_deadline, gen_durable_join_deadline, gen_durable_deadline, in order, each bounded by $1.
-- Lock: SKIP LOCKED.
WITH signals_due AS MATERIALIZED (
  SELECT g.id, g.await_deadline AS at FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_signal' AND g.await_deadline <= now()
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), joins_due AS MATERIALIZED (
  SELECT g.id, g.await_deadline AS at FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_children' AND g.await_deadline <= now()
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), expired AS MATERIALIZED (
  SELECT g.id, g.deadline_at AS at FROM {schema}.gen_durable g
  WHERE g.deadline_at IS NOT NULL AND g.deadline_at <= now()
  ORDER BY g.deadline_at LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), due AS (
  -- No more than were asked for: whoever gets as many asks again at once. One row each, or an update would take one of two.
  SELECT d.id FROM (SELECT * FROM signals_due UNION ALL SELECT * FROM joins_due UNION ALL SELECT * FROM expired) d
  GROUP BY d.id ORDER BY min(d.at) LIMIT $1
), ended AS (
  UPDATE {schema}.gen_durable g
  SET status = CASE WHEN g.status::text LIKE 'awaiting%'
          AND (g.await_deadline <= now() OR g.deadline_at <= now() AND g.expires AND g.cancelled_at IS NULL)
        THEN 'runnable'::{schema}.durable_status ELSE g.status END,
      eligible_at = CASE
        WHEN g.status::text LIKE 'awaiting%' THEN now()
        WHEN g.status::text = 'runnable' AND g.expires AND g.cancelled_at IS NULL THEN least(g.eligible_at, now())
        ELSE g.eligible_at END,
      expired_at = CASE WHEN g.deadline_at <= now() THEN now() ELSE g.expired_at END,
      deadline_at = CASE WHEN g.deadline_at <= now() THEN NULL ELSE g.deadline_at END,
      updated_at = now()
  FROM due WHERE g.id = due.id AND due.id * 0 = 0 -- expects one row: see commit.sql
  RETURNING g.queue
)
SELECT ended.queue, n.next_us, n.schedules
FROM (
  SELECT EXISTS (SELECT FROM {schema}.gen_durable_schedules) AS schedules, (extract(epoch FROM least(
      (SELECT g.await_deadline FROM {schema}.gen_durable g
       WHERE g.status = 'awaiting_signal' AND g.await_deadline > now() AND g.await_deadline < 'infinity'
       ORDER BY g.await_deadline LIMIT 1),
      (SELECT g.await_deadline FROM {schema}.gen_durable g
       WHERE g.status = 'awaiting_children' AND g.await_deadline > now() AND g.await_deadline < 'infinity'
       ORDER BY g.await_deadline LIMIT 1),
      (SELECT g.deadline_at FROM {schema}.gen_durable g
       WHERE g.deadline_at IS NOT NULL AND g.deadline_at > now() AND g.deadline_at < 'infinity'
       ORDER BY g.deadline_at LIMIT 1)) - clock_timestamp()) * 1000000)::bigint AS next_us) n
LEFT JOIN ended ON true
