-- What autovacuum leaves behind.
VACUUM ANALYZE gen_durable
