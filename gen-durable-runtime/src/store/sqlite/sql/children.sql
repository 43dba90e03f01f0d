-- A page of the children of one round that their parent counted, in the order of the fan-out.
-- Index: gen_durable_parent. ?1 parent  ?2 round  ?3 machines  ?4 after this place  ?5 limit
SELECT c.id, c.child_index, c.status, c.result, c.last_error
FROM gen_durable c
WHERE c.parent_id = ?1 AND c.parent_round = ?2 AND c.counted AND c.fsm IN (SELECT value FROM json_each(?3))
  AND c.child_index > ?4
ORDER BY c.child_index
LIMIT ?5
