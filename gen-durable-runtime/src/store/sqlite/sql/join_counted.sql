-- Marks the children that their parents just counted. Index: the primary key.
-- ?1 the children  ?2 the parents: [[id, round], ..]
UPDATE gen_durable AS c NOT INDEXED SET counted = 1
WHERE c.id IN (SELECT value FROM json_each(?1)) AND c.counted IS NOT TRUE AND EXISTS (
  SELECT 1 FROM json_each(?2) AS told
  WHERE told.value ->> 0 = c.parent_id AND (c.parent_round IS NULL OR c.parent_round = told.value ->> 1))
