-- Deletes the consumed signals that have no dedup key. Index: the primary key. ?1 signals
DELETE FROM signals WHERE id IN (SELECT value FROM json_each(?1)) AND dedup_key IS NULL
