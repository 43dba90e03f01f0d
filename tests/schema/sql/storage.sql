-- Storage parameters of the tables of the schema $1, with those of their TOAST tables.
SELECT format('%s %s', c.relname, o.option) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
  unnest(c.reloptions) AS o (option) WHERE n.nspname = $1
UNION ALL
SELECT format('%s toast.%s', c.relname, o.option) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_class t ON t.oid = c.reltoastrelid, unnest(t.reloptions) AS o (option) WHERE n.nspname = $1
ORDER BY 1
