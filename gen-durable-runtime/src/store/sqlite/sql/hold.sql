-- Which rows of a batch still stand as their claims left them: only these may start others. There is one writer, so they
-- stand so until it commits. Index: the primary key. ?1 [[id, token, transitions], ..]
SELECT i.key AS at, g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled
FROM json_each(?1) AS i
JOIN gen_durable AS g ON g.id = i.value ->> 0 AND g.locked_by = i.value ->> 1 AND g.transitions = i.value ->> 2
WHERE +g.status = 'executing'
