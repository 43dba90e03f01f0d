-- gen_durable_bucket_configs, as binary.rs writes it. Ids are taken as they come.
COPY {schema}.gen_durable_bucket_configs (
  kind, name, rate, capacity, shards, by_operator
) FROM STDIN (FORMAT binary)
