-- No-op instances, due an hour ago. $1 machine  $2 step  $3 rows  $4 state
INSERT INTO gen_durable (fsm, step, state, eligible_at)
SELECT $1, $2, $4::text::jsonb, now() - interval '1 hour' FROM generate_series(1, $3)
