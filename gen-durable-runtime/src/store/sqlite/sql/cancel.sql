-- Asks instances to end. Whatever does not run and is not shielded is due at once; what runs is told by its worker.
-- Index: the primary key. ?1 ids  ?2 now  ?3 reason
UPDATE gen_durable AS g
SET cancelled_at = coalesce(g.cancelled_at, ?2), cancel_reason = coalesce(g.cancel_reason, ?3),
    status = CASE WHEN g.status LIKE 'awaiting%' AND NOT g.shielded THEN 'runnable' ELSE g.status END,
    eligible_at = CASE WHEN g.status <> 'executing' AND NOT g.shielded THEN ?2 ELSE g.eligible_at END,
    updated_at = ?2
WHERE g.id IN (SELECT value FROM json_each(?1)) AND +g.status NOT IN ('done', 'failed')
RETURNING id, queue, status = 'executing' AND NOT shielded AS executing
