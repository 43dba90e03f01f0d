-- The bare end of a batch. $1 ids  $2 token
UPDATE gen_durable g
SET status = 'done', result = 'null', transitions = transitions + 1, lease_expires_at = NULL, updated_at = now()
FROM unnest($1::bigint[]) AS i(id)
WHERE g.id = i.id AND g.locked_by = $2 AND g.status::text = 'executing'
RETURNING g.id
