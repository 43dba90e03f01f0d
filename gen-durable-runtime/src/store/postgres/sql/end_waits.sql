-- Ends waits and instances whose time is up, those that have been due for longest first. A wait goes back to runnable, where
-- the claim settles that it timed out; an instance whose deadline passed is marked, once, and is due at once unless its
-- step is exempt. Says when the next one is up, so that whoever ends waits need not be told by anyone; and whether there is
-- any schedule, so that nobody looks for one where there is none.
--
-- A row with a foreign scope, that gave its business key up while it waited, waits on until the key is free: its return
-- would fail the whole sweep. Another engine's fan-out leaves the deadline of an earlier wait behind, which bounds nothing;
-- it clears `locked_by`, which we never do.
-- Index: gen_durable_await_deadline, gen_durable_join_deadline, gen_durable_deadline, in order, each bounded by $1.
-- Lock: SKIP LOCKED.
WITH signals_due AS MATERIALIZED (
  SELECT g.id, g.await_deadline AS at,
    CASE WHEN g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope) THEN g.correlation_key END AS key
  FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_signal' AND g.await_deadline <= now()
    AND (g.correlation_key IS NULL OR g.correlation_guard IS NOT NULL OR 'runnable' <> ALL (g.correlation_scope)
      OR NOT EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = g.correlation_key))
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), joins_due AS MATERIALIZED (
  SELECT g.id, g.await_deadline AS at,
    CASE WHEN g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope) THEN g.correlation_key END AS key
  FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_children' AND g.await_deadline <= now() AND g.locked_by IS NOT NULL
    AND (g.correlation_key IS NULL OR g.correlation_guard IS NOT NULL OR 'runnable' <> ALL (g.correlation_scope)
      OR NOT EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = g.correlation_key))
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), expired AS MATERIALIZED (
  SELECT g.id, g.deadline_at AS at, NULL::text AS key FROM {schema}.gen_durable g
  WHERE g.deadline_at IS NOT NULL AND g.deadline_at <= now()
  ORDER BY g.deadline_at LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), due AS (
  -- No more than were asked for: whoever gets as many asks again at once. One row each, or an update would take one of two; of
  -- two with one key the first.
  SELECT d.id
  FROM (
    SELECT d.*, row_number() OVER (PARTITION BY d.key ORDER BY d.at, d.id) AS nth
    FROM (SELECT * FROM signals_due UNION ALL SELECT * FROM joins_due UNION ALL SELECT * FROM expired) d) d
  WHERE d.key IS NULL OR d.nth = 1
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
  FROM due WHERE g.id = ANY (ARRAY[due.id]) AND due.id * 0 = 0 -- expects one row: see commit.sql
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
