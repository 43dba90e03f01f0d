-- Moves rows of unknown code out of the claim's way, if they still are due. Index: the primary key.
-- ?1 [[id, code], ..]  ?2 now
UPDATE gen_durable AS g NOT INDEXED
SET blocked_by = 'code:' || (i.value ->> 1), due_at = coalesce(g.due_at, g.eligible_at),
    eligible_at = 9223372036854775807, updated_at = ?2
FROM json_each(?1) AS i
WHERE g.id = i.value ->> 0 AND g.status = 'runnable' AND g.eligible_at <= ?2
  AND g.fsm || ':' || g.fsm_version || ':' || g.step = i.value ->> 1
RETURNING id
