-- Ends waits and instances whose time is up, those that have been due for longest first. A wait goes back to runnable, where
-- the claim settles that it timed out; an instance whose deadline passed is marked, once, and is due at once unless its
-- step is exempt.
-- Index: gen_durable_await_deadline, gen_durable_join_deadline, gen_durable_deadline, in order, each bounded by ?1.
-- ?1 limit  ?2 now
UPDATE gen_durable
SET status = CASE WHEN status LIKE 'awaiting%'
        AND (await_deadline <= ?2 OR deadline_at <= ?2 AND expires AND cancelled_at IS NULL)
      THEN 'runnable' ELSE status END,
    eligible_at = CASE
      WHEN status LIKE 'awaiting%' THEN ?2
      WHEN status = 'runnable' AND expires AND cancelled_at IS NULL THEN min(eligible_at, ?2)
      ELSE eligible_at END,
    expired_at = CASE WHEN deadline_at <= ?2 THEN ?2 ELSE expired_at END,
    deadline_at = CASE WHEN deadline_at <= ?2 THEN NULL ELSE deadline_at END,
    updated_at = ?2
WHERE id IN (
  SELECT d.id FROM (
    SELECT * FROM (
      SELECT g.id, g.await_deadline AS at FROM gen_durable g
      WHERE g.status = 'awaiting_signal' AND g.await_deadline <= ?2
      ORDER BY g.await_deadline LIMIT ?1)
    UNION ALL
    SELECT * FROM (
      SELECT g.id, g.await_deadline AS at FROM gen_durable g
      WHERE g.status = 'awaiting_children' AND g.await_deadline <= ?2
      ORDER BY g.await_deadline LIMIT ?1)
    UNION ALL
    SELECT * FROM (
      SELECT g.id, g.deadline_at AS at FROM gen_durable g
      WHERE g.deadline_at IS NOT NULL AND g.deadline_at <= ?2
      ORDER BY g.deadline_at LIMIT ?1)) AS d
  -- No more than were asked for: whoever gets as many asks again at once.
  GROUP BY d.id ORDER BY min(d.at) LIMIT ?1)
RETURNING queue
