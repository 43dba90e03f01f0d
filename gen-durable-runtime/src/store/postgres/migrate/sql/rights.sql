-- The rights a worker needs in the schema $1 and this role lacks, the first first. Tables that are absent are
-- no matter of rights. Without USAGE on the schema nothing in it can be reached.
SELECT quote_ident(current_user), w.privilege, w.target
FROM (
  SELECT 0 AS place, 'USAGE' AS privilege, 'schema ' || quote_ident(n.nspname) AS target,
         pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS held
  FROM pg_catalog.pg_namespace AS n WHERE n.nspname = $1
  UNION ALL
  SELECT need.place, need.privilege, 'table ' || quote_ident(n.nspname) || '.' || need.name,
         pg_catalog.has_table_privilege(c.oid, need.privilege)
  FROM (VALUES
    (1, 'gen_durable_meta', 'SELECT'),
    (2, 'gen_durable', 'SELECT'), (3, 'gen_durable', 'INSERT'), (4, 'gen_durable', 'UPDATE'), (5, 'gen_durable', 'DELETE'),
    (6, 'signals', 'SELECT'), (7, 'signals', 'INSERT'), (8, 'signals', 'UPDATE'), (9, 'signals', 'DELETE'),
    (10, 'gen_durable_buckets', 'SELECT'), (11, 'gen_durable_buckets', 'INSERT'),
    (12, 'gen_durable_buckets', 'UPDATE'), (13, 'gen_durable_buckets', 'DELETE'),
    (14, 'gen_durable_bucket_configs', 'SELECT'), (15, 'gen_durable_bucket_configs', 'INSERT'),
    (16, 'gen_durable_bucket_configs', 'UPDATE'), (17, 'gen_durable_bucket_configs', 'DELETE'),
    (18, 'gen_durable_schedules', 'SELECT'), (19, 'gen_durable_schedules', 'INSERT'),
    (20, 'gen_durable_schedules', 'UPDATE'), (21, 'gen_durable_schedules', 'DELETE'),
    (22, 'gen_durable_queues', 'SELECT')
  ) AS need (place, name, privilege)
  JOIN pg_catalog.pg_namespace AS n ON n.nspname = $1
  JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = need.name
) AS w
WHERE NOT w.held
ORDER BY w.place
