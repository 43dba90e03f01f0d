-- $1 ended instances.
INSERT INTO {schema}.gen_durable (fsm, step, status) SELECT 'bulk', 'end', 'done' FROM generate_series(1, $1::int8)
