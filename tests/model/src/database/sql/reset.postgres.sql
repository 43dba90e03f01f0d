-- An empty database for the next history; its ids go on.
TRUNCATE gen_durable, signals, gen_durable_history, gen_durable_buckets, gen_durable_bucket_configs, gen_durable_held
