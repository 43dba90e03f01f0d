-- The bare step in place, with its lines of history: no indexed column. $1 ids  $2 token  $3 states
WITH moved AS (
  UPDATE gen_durable g SET step = 'link', state = i.state::jsonb, attempt = 0, transitions = transitions + 1
  FROM unnest($1::bigint[], $3::text[]) AS i(id, state)
  WHERE g.id = i.id AND g.locked_by = $2 AND g.status::text = 'executing'
  RETURNING g.id, g.transitions, g.step, g.attempt
), logged AS (
  INSERT INTO gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at)
  SELECT m.id, m.transitions, m.step, m.step, 'goto', m.attempt, $2, now() FROM moved m
)
SELECT id FROM moved
