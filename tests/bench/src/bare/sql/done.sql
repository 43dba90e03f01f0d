-- The bare end of a batch, with its lines of history. $1 ids  $2 token
WITH ended AS (
  UPDATE gen_durable g
  SET status = 'done', result = 'null', transitions = transitions + 1, lease_expires_at = NULL, updated_at = now()
  FROM unnest($1::bigint[]) AS i(id)
  WHERE g.id = i.id AND g.locked_by = $2 AND g.status::text = 'executing'
  RETURNING g.id, g.transitions, g.step, g.attempt
), logged AS (
  INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, worker, started_at)
  SELECT e.id, e.transitions, e.step, 'done', e.attempt, $2, now() FROM ended e
)
SELECT id FROM ended
