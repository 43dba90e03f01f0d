-- The bare step in place: no indexed column. ?1 [[id, state], ..]  ?2 token
UPDATE gen_durable AS g NOT INDEXED SET step = 'link', state = i.state, attempt = 0, transitions = transitions + 1
FROM (SELECT value ->> 0 AS id, value ->> 1 AS state FROM json_each(?1)) AS i
WHERE g.id = i.id AND g.locked_by = ?2 AND +g.status = 'executing'
RETURNING id
