-- The bare claim: what the engine's claim changes, nothing more. $1 rows  $2 token
UPDATE gen_durable SET status = 'executing', locked_by = $2, lease_expires_at = now() + interval '30 s', updated_at = now()
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM gen_durable WHERE queue = 'default' AND status = 'runnable' AND eligible_at <= now()
  ORDER BY priority, eligible_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))
RETURNING id, fsm, step, state::text, attempt, transitions
