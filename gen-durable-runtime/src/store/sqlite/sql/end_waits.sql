-- Ends waits whose time is up, those that have been due for longest first: back to runnable, where the claim settles that they timed out.
-- Index: gen_durable_await_deadline, gen_durable_join_deadline, in order, each bounded by ?1. ?1 limit  ?2 now
UPDATE gen_durable SET status = 'runnable', eligible_at = ?2, updated_at = ?2
WHERE id IN (
  SELECT d.id FROM (
    SELECT * FROM (
      SELECT g.id, g.await_deadline FROM gen_durable g
      WHERE g.status = 'awaiting_signal' AND g.await_deadline <= ?2
      ORDER BY g.await_deadline LIMIT ?1)
    UNION ALL
    SELECT * FROM (
      SELECT g.id, g.await_deadline FROM gen_durable g
      WHERE g.status = 'awaiting_children' AND g.await_deadline <= ?2
      ORDER BY g.await_deadline LIMIT ?1)) AS d
  -- No more than were asked for: whoever gets as many asks again at once.
  ORDER BY d.await_deadline LIMIT ?1)
RETURNING queue
