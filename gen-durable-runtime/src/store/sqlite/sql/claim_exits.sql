-- The oldest signal that leaves the step of each claimed row. Index: the primary key; signals_inbox. ?1 ids
SELECT g.id AS target, s.id, s.name, s.payload
FROM json_each(?1) AS i
JOIN gen_durable AS g ON g.id = i.value
JOIN signals AS s ON s.id = (
  SELECT o.id FROM signals o
  WHERE o.target_id = g.id AND o.consumed_at IS NULL AND o.name IN (SELECT value FROM json_each(g.exit_signals))
  ORDER BY o.id LIMIT 1)
