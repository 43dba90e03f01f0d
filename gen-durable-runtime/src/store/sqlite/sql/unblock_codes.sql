-- Wakes rows that were set aside because nobody knew their code. Index: gen_durable_blocked.
-- ?1 causes as JSON  ?2 limit  ?3 now
UPDATE gen_durable SET eligible_at = due_at, blocked_by = NULL, due_at = NULL, updated_at = ?3
WHERE id IN (
  SELECT b.id FROM json_each(?1) AS c CROSS JOIN gen_durable AS b ON b.blocked_by = c.value AND +b.status = 'runnable'
  LIMIT ?2)
RETURNING queue
