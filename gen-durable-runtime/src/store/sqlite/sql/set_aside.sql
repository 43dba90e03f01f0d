-- Moves rows out of the claim's way: nothing walks them until what they wait for wakes them, or their tokens are there.
-- Index: the primary key. ?1 [[id, what it waits for, until when], ..]  ?2 now
UPDATE gen_durable AS g NOT INDEXED
SET blocked_by = i.value ->> 1, due_at = coalesce(g.due_at, g.eligible_at),
    eligible_at = coalesce(i.value ->> 2, 9223372036854775807), updated_at = ?2
FROM json_each(?1) AS i
WHERE g.id = i.value ->> 0
