-- gen_durable_buckets, as binary.rs writes it. Ids are taken as they come.
COPY {schema}.gen_durable_buckets (
  kind, key, shard, capacity, available, last_refill, promised_at, owed
) FROM STDIN (FORMAT binary)
