-- The number of the type of a status, which an array of them carries.
SELECT t.oid::bigint FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
WHERE n.nspname = $1 AND t.typname = 'durable_status'
