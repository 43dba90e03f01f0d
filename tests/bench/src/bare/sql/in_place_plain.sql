-- The bare step in place: no indexed column. $1 ids  $2 token  $3 states
UPDATE gen_durable g SET step = 'link', state = i.state::jsonb, attempt = 0, transitions = transitions + 1
FROM unnest($1::bigint[], $3::text[]) AS i(id, state)
WHERE g.id = i.id AND g.locked_by = $2 AND g.status::text = 'executing'
RETURNING g.id
