-- Lets ids of the table $1 go on above $2, and above what the target itself gave before. Outlives a rollback, as a
-- gap does.
SELECT pg_catalog.setval(s.oid, greatest($2, pg_catalog.pg_sequence_last_value(s.oid)))
FROM (SELECT pg_catalog.pg_get_serial_sequence($1, 'id')::regclass AS oid) AS s
WHERE $2 > 0
