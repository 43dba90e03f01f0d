-- The version of the tables, and the oldest program that can still work on them.
SELECT version, oldest_code FROM gen_durable_meta
