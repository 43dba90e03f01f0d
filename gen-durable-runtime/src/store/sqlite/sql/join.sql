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
  SELECT c.parent_id AS parent, c.parent_round AS round, count(*) AS ended, sum(c.status = 'done') AS done
  FROM gen_durable AS c NOT INDEXED
  WHERE c.id IN (SELECT value FROM json_each(?1)) AND c.parent_id IS NOT NULL AND c.counted IS NOT TRUE
  GROUP BY c.parent_id, c.parent_round
) AS e
WHERE p.id = e.parent AND +p.status = 'awaiting_children' AND (e.round IS NULL OR e.round = p.transitions)
RETURNING id, transitions, status, queue
