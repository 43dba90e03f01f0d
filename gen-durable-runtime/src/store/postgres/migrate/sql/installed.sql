-- What stands in the schema $1: whether the schema and the tables exist, and the version in the comment. Needs
-- no rights: the catalog can be read by everyone.
SELECT n.oid IS NOT NULL,
       t.oid IS NOT NULL,
       pg_catalog.obj_description(t.oid, 'pg_class'),
       m.oid IS NOT NULL
FROM (SELECT 1) AS one
LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = $1
LEFT JOIN pg_catalog.pg_class AS t ON t.relnamespace = n.oid AND t.relname = 'gen_durable' AND t.relkind IN ('r', 'p')
LEFT JOIN pg_catalog.pg_class AS m ON m.relnamespace = n.oid AND m.relname = 'gen_durable_meta' AND m.relkind = 'r'
