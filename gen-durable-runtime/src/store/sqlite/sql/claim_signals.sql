-- The signals that the claimed visits received. Index: the primary key. ?1 ids
SELECT s.id, s.name, s.payload FROM signals s WHERE s.id IN (SELECT value FROM json_each(?1)) ORDER BY s.id
