-- Who keeps a migration from the tables of the schema $1: sessions with a lock on one of them, and other
-- migrators, the oldest transaction first.
SELECT DISTINCT a.pid, coalesce(a.state, 'unknown'), coalesce(extract(epoch FROM now() - a.xact_start), 0)::int8
FROM pg_catalog.pg_locks AS l
JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = l.relation
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE l.granted AND a.pid <> pg_catalog.pg_backend_pid()
  AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
  AND (l.locktype = 'relation' AND n.nspname = $1 AND c.relname IN ('gen_durable', 'signals')
       OR l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = 1734700644::oid
          AND l.objid::int8 = pg_catalog.hashtext($1)::int8 & 4294967295)
ORDER BY 3 DESC
LIMIT 3
