-- The highest ids ever given, also to rows that went: $1 gen_durable, $2 signals, $3 its history, by the names of
-- their tables.
SELECT greatest((SELECT max(id) FROM {schema}.gen_durable),
                pg_catalog.pg_sequence_last_value(pg_catalog.pg_get_serial_sequence($1, 'id')::regclass), 0),
       greatest((SELECT max(id) FROM {schema}.signals),
                pg_catalog.pg_sequence_last_value(pg_catalog.pg_get_serial_sequence($2, 'id')::regclass), 0),
       greatest((SELECT max(id) FROM {schema}.gen_durable_history),
                pg_catalog.pg_sequence_last_value(pg_catalog.pg_get_serial_sequence($3, 'id')::regclass), 0)
