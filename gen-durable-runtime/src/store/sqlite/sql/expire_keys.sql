-- Deletes consumed signals whose dedup keys protect no longer. Index: the primary key. ?1 signals  ?2 consumed before this moment
DELETE FROM signals WHERE id IN (SELECT value FROM json_each(?1)) AND consumed_at < ?2
RETURNING id
