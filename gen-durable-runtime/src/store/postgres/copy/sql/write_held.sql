-- gen_durable_held, as binary.rs writes it.
COPY {schema}.gen_durable_held (
  instance_id, key, shard
) FROM STDIN (FORMAT binary)
