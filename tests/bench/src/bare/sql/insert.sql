-- The bare start. $1 machine  $2 state
INSERT INTO gen_durable (fsm, step, state, correlation_scope) VALUES ($1, 'only', $2::text::jsonb, '{}') RETURNING id
