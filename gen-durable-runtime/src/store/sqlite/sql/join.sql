-- Counts the children of a batch that ended with their parents, once per batch and parent, and wakes a parent whose
-- children have all ended, or whose quorum is there or out of reach.
--
-- Runs after commit.sql in its transaction. A parent that waits no more, or for another round, counts nobody: what its
-- join saw stays what it saw. Index: the primary key. ?1 the children  ?2 now
UPDATE gen_durable AS p NOT INDEXED
SET children_pending = CASE WHEN e.is_over AND e.key_taken THEN 0 ELSE max(p.children_pending - e.ended, 0) END,
    children_done = p.children_done + e.done,
    status = CASE WHEN NOT e.is_over THEN p.status WHEN e.key_taken THEN 'failed' ELSE 'runnable' END,
    last_error = CASE WHEN e.is_over AND e.key_taken THEN 'its business key has a newer occupant' ELSE p.last_error END,
    eligible_at = CASE WHEN e.is_over THEN ?2 ELSE p.eligible_at END,
    updated_at = ?2
FROM (
  -- One row a parent, or the update would take one of two.
  SELECT w.id AS parent, count(*) AS ended, sum(c.status = 'done') AS done,
    (w.children_pending <= count(*) OR w.children_done + sum(c.status = 'done') >= w.children_quorum
      OR w.children_done + sum(c.status = 'done') + w.children_pending - count(*) < w.children_quorum) IS TRUE AS is_over,
    -- Only a parent with a foreign scope, that gave its key up while it waited, can meet a newer occupant.
    w.correlation_key IS NOT NULL AND w.correlation_guard IS NULL AND instr(w.correlation_scope, '"runnable"') > 0
      AND EXISTS (SELECT 1 FROM gen_durable o WHERE o.correlation_guard = w.correlation_key) AS key_taken
  FROM gen_durable AS c NOT INDEXED
  JOIN gen_durable AS w NOT INDEXED ON w.id = c.parent_id AND (c.parent_round IS NULL OR c.parent_round = w.transitions)
  WHERE c.id IN (SELECT value FROM json_each(?1)) AND c.counted IS NOT TRUE AND +w.status = 'awaiting_children'
  GROUP BY w.id
) AS e
WHERE p.id = e.parent
RETURNING id, transitions, status, queue, parent_id
