-- The same for a table ?1 that never had a row.
INSERT INTO sqlite_sequence (name, seq)
SELECT ?1, ?2 WHERE ?2 > 0 AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)
