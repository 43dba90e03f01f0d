-- Counts the children of a batch that ended with their parents, once per batch and parent, and wakes a parent whose
-- children have all ended, or whose quorum is there or out of reach.
--
-- Runs after commit.sql in its transaction. A parent that waits no more, or for another round, counts nobody: what its
-- join saw stays what it saw. Index: the primary key. ?1 the children  ?2 now
UPDATE gen_durable AS p NOT INDEXED
SET children_pending = max(p.children_pending - e.ended, 0),
    children_done = p.children_done + e.done,
    status = CASE WHEN p.children_pending <= e.ended OR p.children_done + e.done >= p.children_quorum
        OR p.children_done + e.done + p.children_pending - e.ended < p.children_quorum
      THEN 'runnable' ELSE p.status END,
    eligible_at = CASE WHEN p.children_pending <= e.ended OR p.children_done + e.done >= p.children_quorum
        OR p.children_done + e.done + p.children_pending - e.ended < p.children_quorum
      THEN ?2 ELSE p.eligible_at END,
    updated_at = ?2
FROM (
  -- One row a parent, or the update would take one of two.
  SELECT w.id AS parent, count(*) AS ended, sum(c.status = 'done') AS done
  FROM gen_durable AS c NOT INDEXED
  JOIN gen_durable AS w NOT INDEXED ON w.id = c.parent_id AND (c.parent_round IS NULL OR c.parent_round = w.transitions)
  WHERE c.id IN (SELECT value FROM json_each(?1)) AND c.counted IS NOT TRUE AND +w.status = 'awaiting_children'
  GROUP BY w.id
) AS e
WHERE p.id = e.parent
RETURNING id, transitions, status, queue
