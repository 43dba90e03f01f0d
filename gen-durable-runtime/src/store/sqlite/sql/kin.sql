-- A page of the children of an instance as they stand, in the order of their rounds and places: of its last round, or of
-- all. Another engine's have neither, and come first.
--
-- Index: gen_durable_parent; all its children are looked at.
-- ?1 parent  ?2 of all rounds  ?3 after this round  ?4 place  ?5 id  ?6 limit
SELECT c.id, c.fsm, c.status, c.parent_round, c.child_index
FROM gen_durable c
WHERE c.parent_id = ?1
  AND (coalesce(c.parent_round, -1), coalesce(c.child_index, -1), c.id) > (?3, ?4, ?5)
  AND (?2 OR c.parent_round IS NULL
    OR c.parent_round = (SELECT max(l.parent_round) FROM gen_durable l WHERE l.parent_id = ?1))
ORDER BY coalesce(c.parent_round, -1), coalesce(c.child_index, -1), c.id
LIMIT ?6
