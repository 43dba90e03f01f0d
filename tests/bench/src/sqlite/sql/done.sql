-- The bare end of a batch. ?1 ids  ?2 token  ?3 now
UPDATE gen_durable AS g NOT INDEXED
SET status = 'done', result = 'null', transitions = transitions + 1, lease_expires_at = NULL, updated_at = ?3
FROM (SELECT value AS id FROM json_each(?1)) AS i
WHERE g.id = i.id AND g.locked_by = ?2 AND +g.status = 'executing'
RETURNING id
