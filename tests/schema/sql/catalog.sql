-- One line per fact of the schema $1, sorted: what a migration must leave behind.
WITH ns AS (SELECT oid FROM pg_namespace WHERE nspname = $1),
tables AS (
  SELECT c.oid, c.relname FROM pg_class c JOIN ns ON c.relnamespace = ns.oid
  WHERE c.relkind IN ('r', 'p')
),
facts AS (
  SELECT format('enum %s %s %s', t.typname, row_number() OVER (PARTITION BY t.oid ORDER BY e.enumsortorder), e.enumlabel) AS fact
    FROM pg_type t JOIN ns ON t.typnamespace = ns.oid JOIN pg_enum e ON e.enumtypid = t.oid
  UNION ALL
  SELECT format('column %s.%s %s%s%s%s', tb.relname, a.attname,
                format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
                CASE a.attidentity WHEN 'a' THEN ' identity always' WHEN 'd' THEN ' identity by default' ELSE '' END,
                CASE WHEN d.adbin IS NULL THEN ''
                     WHEN a.attgenerated = 's' THEN ' generated ' || btrim(regexp_replace(pg_get_expr(d.adbin, d.adrelid), '\s+', ' ', 'g'))
                     ELSE ' default ' || pg_get_expr(d.adbin, d.adrelid) END)
    FROM tables tb JOIN pg_attribute a ON a.attrelid = tb.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = tb.oid AND d.adnum = a.attnum
  UNION ALL
  SELECT format('constraint %s %s', tb.relname, pg_get_constraintdef(k.oid))
    FROM tables tb JOIN pg_constraint k ON k.conrelid = tb.oid AND k.contype <> 'n'
  UNION ALL
  SELECT format('index %s %s%s', tb.relname, replace(pg_get_indexdef(i.indexrelid), quote_ident($1) || '.', ''),
                CASE WHEN i.indisvalid THEN '' ELSE ' INVALID' END)
    FROM tables tb JOIN pg_index i ON i.indrelid = tb.oid
  UNION ALL
  SELECT format('version %s', obj_description(tb.oid, 'pg_class')) FROM tables tb WHERE tb.relname = 'gen_durable'
)
SELECT replace(fact, quote_ident($1) || '.', '') COLLATE "C" FROM facts ORDER BY 1
