-- Version 3 down to 0 as the Elixir migrator does it: it knows nothing of what this engine added.
ALTER TABLE {schema}.gen_durable DROP COLUMN concurrency_name;
DROP TABLE IF EXISTS {schema}.gen_durable_buckets;
DROP TABLE IF EXISTS {schema}.gen_durable_bucket_configs;
DROP TABLE IF EXISTS {schema}.signals;
DROP TABLE IF EXISTS {schema}.gen_durable;
DROP TYPE IF EXISTS {schema}.durable_status
