-- The table with its indexes.
SELECT pg_total_relation_size('gen_durable') / 1048576 AS bench_size
