-- One row of gen_durable_buckets; its parameters are its columns.
INSERT INTO gen_durable_buckets (
  kind, key, shard, capacity, available, last_refill, promised_at, owed
) VALUES (
  ?, ?, ?, ?, ?, ?, ?, ?
)
