-- No-op instances, due an hour ago. ?1 machine  ?2 step  ?3 rows
INSERT INTO gen_durable (fsm, step, state, eligible_at)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3)
SELECT ?1, ?2, '{"left": 4}', CAST((unixepoch('subsec') - 3600) * 1000000 AS INTEGER) FROM n
