-- Size of the table $2 in the schema $1: rows as the planner would guess them (0 when it was never analyzed),
-- bytes of its rows, bytes of all that belongs to it.
SELECT CASE WHEN c.relpages > 0 AND c.reltuples > 0
            THEN (c.reltuples / c.relpages * (pg_catalog.pg_relation_size(c.oid)
                  / pg_catalog.current_setting('block_size')::int8))::int8
            ELSE 0 END,
       pg_catalog.pg_relation_size(c.oid),
       pg_catalog.pg_total_relation_size(c.oid)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
