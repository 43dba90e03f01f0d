-- An empty database for the next history; its ids go on. The signals go with their targets.
DELETE FROM gen_durable;
DELETE FROM gen_durable_history;
DELETE FROM gen_durable_buckets;
DELETE FROM gen_durable_bucket_configs;
DELETE FROM gen_durable_held
