-- Extends the leases of claims that still stand. Index: the primary key. ?1 [[id, token], ..]  ?2 lease ends at
UPDATE gen_durable AS g NOT INDEXED SET lease_expires_at = ?2
FROM (SELECT value ->> 0 AS id, value ->> 1 AS token FROM json_each(?1)) AS i
WHERE g.id = i.id AND g.locked_by = i.token AND +g.status = 'executing'
RETURNING id, cancelled_at IS NOT NULL AND NOT shielded AS cancelled
