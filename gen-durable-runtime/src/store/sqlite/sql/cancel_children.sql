-- Asks children to end, a piece at a time.
-- Index: gen_durable_parent. ?1 parent  ?2 now  ?3 reason  ?4 its round, or all  ?5 limit
UPDATE gen_durable AS g
SET cancelled_at = coalesce(g.cancelled_at, ?2), cancel_reason = coalesce(g.cancel_reason, ?3),
    status = CASE WHEN g.status LIKE 'awaiting%' AND NOT g.shielded THEN 'runnable' ELSE g.status END,
    eligible_at = CASE WHEN g.status <> 'executing' AND NOT g.shielded THEN ?2 ELSE g.eligible_at END,
    updated_at = ?2
WHERE g.id IN (
  SELECT c.id FROM gen_durable c
  WHERE c.parent_id = ?1 AND (?4 IS NULL OR c.parent_round = ?4) AND c.cancelled_at IS NULL
    AND +c.status NOT IN ('done', 'failed')
  LIMIT ?5)
RETURNING id, queue, status = 'executing' AND NOT shielded AS executing
