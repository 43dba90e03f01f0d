-- Ends waits whose time is up, those that have been due for longest first: back to runnable, where the claim settles that they timed out. Says when the next one is
-- up, so that whoever ends waits need not be told by anyone.
-- Index: gen_durable_await_deadline, gen_durable_join_deadline, in order, each bounded by $1. Lock: SKIP LOCKED.
WITH signals_due AS MATERIALIZED (
  SELECT g.id, g.await_deadline FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_signal' AND g.await_deadline <= now()
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), joins_due AS MATERIALIZED (
  SELECT g.id, g.await_deadline FROM {schema}.gen_durable g
  WHERE g.status = 'awaiting_children' AND g.await_deadline <= now()
  ORDER BY g.await_deadline LIMIT $1
  FOR NO KEY UPDATE OF g SKIP LOCKED
), due AS (
  -- No more than were asked for: whoever gets as many asks again at once.
  SELECT d.id FROM (SELECT * FROM signals_due UNION ALL SELECT * FROM joins_due) d
  ORDER BY d.await_deadline LIMIT $1
), ended AS (
  UPDATE {schema}.gen_durable g SET status = 'runnable', eligible_at = now(), updated_at = now()
  FROM due WHERE g.id = due.id AND due.id * 0 = 0 -- expects one row: see commit.sql
  RETURNING g.queue
)
SELECT ended.queue, n.next_us
FROM (
  SELECT (extract(epoch FROM least(
      (SELECT g.await_deadline FROM {schema}.gen_durable g
       WHERE g.status = 'awaiting_signal' AND g.await_deadline > now() AND g.await_deadline < 'infinity'
       ORDER BY g.await_deadline LIMIT 1),
      (SELECT g.await_deadline FROM {schema}.gen_durable g
       WHERE g.status = 'awaiting_children' AND g.await_deadline > now() AND g.await_deadline < 'infinity'
       ORDER BY g.await_deadline LIMIT 1)) - clock_timestamp()) * 1000000)::bigint AS next_us) n
LEFT JOIN ended ON true
