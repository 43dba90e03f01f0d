-- Marks the children that their parents just counted. A child that another engine started gets the round and a place: the
-- next round is not its own. Index: the primary key; gen_durable_parent for a place.
-- ?1 the children  ?2 the parents: [[id, round], ..]
UPDATE gen_durable AS c NOT INDEXED
SET counted = 1, parent_round = told.value ->> 1,
    child_index = coalesce(c.child_index, (
      SELECT count(*) FROM gen_durable AS s
      WHERE s.parent_id = c.parent_id AND s.id < c.id AND (s.parent_round IS NULL OR s.parent_round = told.value ->> 1)))
FROM json_each(?2) AS told
WHERE c.id IN (SELECT value FROM json_each(?1)) AND c.counted IS NOT TRUE
  AND told.value ->> 0 = c.parent_id AND (c.parent_round IS NULL OR c.parent_round = told.value ->> 1)
