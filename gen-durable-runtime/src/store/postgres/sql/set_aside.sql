-- Moves locked rows out of the claim's way: nothing walks them until what they wait for wakes them, or their tokens are there.
-- Index: the primary key. $1 ids  $2 what they wait for  $3 until when, microseconds of the epoch
UPDATE {schema}.gen_durable g
SET blocked_by = i.blocked_by, due_at = coalesce(g.due_at, g.eligible_at),
    eligible_at = coalesce(to_timestamp(i.until_us / 1000000.0), 'infinity'), updated_at = now()
FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS i(id, blocked_by, until_us)
WHERE g.id = ANY (ARRAY[i.id]) AND i.id * 0 = 0 -- expects one row: see commit.sql
