-- Takes everything away. A host's own tables in the same file stay.
DROP TABLE gen_durable_buckets;
DROP TABLE gen_durable_bucket_configs;
DROP TABLE signals;
DROP TABLE gen_durable;
DROP TABLE gen_durable_meta;
