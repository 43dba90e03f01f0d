-- Marks the consumed signals that have a dedup key, and empties them: the key protects for the instance's life.
-- Index: the primary key. ?1 signals  ?2 instances whose inbox goes as a whole  ?3 now
UPDATE signals SET consumed_at = ?3, payload = '{}'
WHERE id IN (SELECT value FROM json_each(?1)) AND dedup_key IS NOT NULL
  AND target_id NOT IN (SELECT value FROM json_each(?2))
