-- Forgets lines of history by their age, in the order of their ids, which is about that of their age.
-- Index: the primary key. ?1 older than this moment  ?2 limit
DELETE FROM gen_durable_history WHERE id IN (
  SELECT old.id FROM (SELECT h.id, h.committed_at FROM gen_durable_history h ORDER BY h.id LIMIT ?2) AS old
  WHERE old.committed_at < ?1)
RETURNING id
