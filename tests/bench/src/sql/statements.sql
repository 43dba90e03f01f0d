-- Statements of this database since the reset, without the bench's own.
SELECT coalesce(sum(s.calls), 0)::bigint AS bench_statements FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
WHERE d.datname = current_database() AND s.query NOT LIKE '%bench_%'
