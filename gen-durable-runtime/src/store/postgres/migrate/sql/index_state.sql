-- The index $3 of the table $2 in the schema $1: whether it is there, whether it is valid, and whether someone
-- else holds the lock of a concurrent build (or of a vacuum) on the table.
SELECT i.indexrelid IS NOT NULL,
       coalesce(i.indisvalid, false),
       EXISTS (SELECT 1 FROM pg_catalog.pg_locks AS l
               WHERE l.locktype = 'relation' AND l.relation = t.oid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted
                 AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d
                                   WHERE d.datname = pg_catalog.current_database()))
FROM pg_catalog.pg_class AS t
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
LEFT JOIN (pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid)
       ON i.indrelid = t.oid AND x.relname = $3
WHERE n.nspname = $1 AND t.relname = $2
