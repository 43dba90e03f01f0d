-- Everything in the schema $1 that is not a column or an index of a table: for an empty schema, nothing.
SELECT format('%s %s', c.relkind, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1
UNION ALL
SELECT format('type %s', t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1
UNION ALL
SELECT format('function %s', p.proname) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1
ORDER BY 1
