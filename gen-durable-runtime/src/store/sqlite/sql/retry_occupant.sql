-- Who took the business key of a failed instance meanwhile. Index: the primary key; gen_durable_correlation. ?1 id
SELECT g.id, (
  SELECT o.id FROM gen_durable o
  WHERE o.correlation_guard = g.correlation_key AND o.id <> g.id AND instr(g.correlation_scope, '"runnable"') > 0
) AS occupant
FROM gen_durable g
WHERE g.id = ?1 AND +g.status = 'failed'
