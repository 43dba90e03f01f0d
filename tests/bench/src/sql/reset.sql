-- Forgets the statements of this database. The alias says whose it is.
SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0) AS bench_reset
