-- The processes that hold claims, by their part of locked_by. Index: gen_durable_lease, once per boot.
SELECT DISTINCT CASE WHEN instr(g.locked_by, '#') > 0 THEN substr(g.locked_by, 1, instr(g.locked_by, '#') - 1)
  ELSE g.locked_by END AS owner
FROM gen_durable g
WHERE g.status = 'executing' AND g.locked_by IS NOT NULL
