-- The statements that took the server longest since the reset.
SELECT s.calls, s.total_exec_time AS total, s.mean_exec_time AS mean, s.max_exec_time AS longest,
  left(regexp_replace(s.query, '\s+', ' ', 'g'), 70) AS bench_text
FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
WHERE d.datname = current_database() AND s.query NOT LIKE '%bench_%'
ORDER BY s.total_exec_time DESC LIMIT 12
