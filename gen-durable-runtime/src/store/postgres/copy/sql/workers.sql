-- Other sessions of gen-durable in this database, of any schema and any role: workers, and clients that may write.
-- A copy calls itself otherwise.
SELECT count(*) FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database() AND application_name = 'gen-durable'
