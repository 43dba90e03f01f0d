-- Wakes rows that waited for limits with these names to be known, or whose tokens were promised under other terms.
-- Index: gen_durable_blocked. ?1 cause  ?2 prefix of causes  ?3 limit  ?4 now
UPDATE gen_durable SET eligible_at = due_at, blocked_by = NULL, due_at = NULL, updated_at = ?4
WHERE id IN (
  SELECT b.id FROM (
    SELECT g.id FROM gen_durable g WHERE g.blocked_by = ?1 AND +g.status = 'runnable'
    UNION ALL
    SELECT g.id FROM gen_durable g
    WHERE g.blocked_by >= ?2 AND g.blocked_by < ?2 || char(1114111) AND +g.status = 'runnable') AS b
  LIMIT ?3)
RETURNING queue
