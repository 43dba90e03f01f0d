-- The bare end of a batch and the claim of the next one. $1 rows  $2 token  $3 ids
WITH ended AS (
  UPDATE gen_durable g
  SET status = 'done', result = 'null', transitions = transitions + 1, lease_expires_at = NULL, updated_at = now()
  FROM unnest($3::bigint[]) AS i(id)
  WHERE g.id = i.id AND g.locked_by = $2 AND g.status::text = 'executing'
)
UPDATE gen_durable SET status = 'executing', locked_by = $2, lease_expires_at = now() + interval '30 s', updated_at = now()
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM gen_durable WHERE queue = 'default' AND status = 'runnable' AND eligible_at <= now()
  ORDER BY priority, eligible_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))
RETURNING id, fsm, step, state::text, attempt, transitions
