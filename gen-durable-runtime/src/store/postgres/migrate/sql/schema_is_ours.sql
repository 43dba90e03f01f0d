-- Whether the schema $1 was made by a migrator, belongs to this role, and is empty: every object in a schema
-- depends on it.
SELECT EXISTS (
  SELECT 1 FROM pg_catalog.pg_namespace AS n
  WHERE n.nspname = $1
    AND pg_catalog.obj_description(n.oid, 'pg_namespace') = 'made by gen-durable'
    AND pg_catalog.pg_has_role(n.nspowner, 'USAGE')
    AND NOT EXISTS (
      SELECT 1 FROM pg_catalog.pg_depend AS d
      WHERE d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.refobjid = n.oid))
