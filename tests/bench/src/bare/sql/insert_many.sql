-- The bare start of many. $1 machines  $2 states
INSERT INTO gen_durable (fsm, step, state, correlation_scope)
SELECT i.fsm, 'only', i.state::jsonb, '{}' FROM unnest($1::text[], $2::text[]) AS i(fsm, state)
RETURNING id
