-- Wakes rows that were set aside for a key, in their order. Index: gen_durable_blocked. ?1 key  ?2 how many  ?3 now
UPDATE gen_durable SET eligible_at = due_at, blocked_by = NULL, due_at = NULL, updated_at = ?3
WHERE id IN (
  SELECT g.id FROM gen_durable g
  WHERE g.blocked_by = 'key:' || ?1 AND +g.status = 'runnable'
  ORDER BY g.priority, g.due_at LIMIT ?2)
RETURNING queue
