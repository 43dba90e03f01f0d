-- The bare step back in line, or the end when nothing is left. $1 ids  $2 token
UPDATE gen_durable g
SET status = (CASE WHEN (g.state ->> 'left')::int > 0 THEN 'runnable' ELSE 'done' END)::durable_status,
    state = jsonb_build_object('left', (g.state ->> 'left')::int - 1), attempt = 0, eligible_at = now(),
    transitions = transitions + 1, lease_expires_at = NULL, updated_at = now()
FROM unnest($1::bigint[]) AS i(id)
WHERE g.id = i.id AND g.locked_by = $2 AND g.status::text = 'executing'
RETURNING g.id
