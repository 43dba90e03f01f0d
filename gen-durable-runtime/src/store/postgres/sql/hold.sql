-- Locks the rows of a batch that still stand as their claims left them, without waiting for any.
--
-- Run before commit.sql when a row of the batch parks, which then writes only what is held here: the next statement's snapshot then holds every signal
-- that was delivered before the lock. Delivery takes the same lock, so a later one sees the park.
-- Index: the primary key. $1 ids  $2 tokens  $3 transitions
SELECT i.ord, g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled
FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS i(id, token, transitions, ord)
JOIN {schema}.gen_durable g ON g.id = ANY (ARRAY[i.id]) AND g.locked_by = i.token AND g.transitions = i.transitions
WHERE g.status::text = 'executing' AND i.ord * 0 = 0 -- expects one row: see commit.sql
FOR NO KEY UPDATE OF g SKIP LOCKED
