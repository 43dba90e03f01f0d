-- One row of gen_durable_bucket_configs; its parameters are its columns.
INSERT INTO gen_durable_bucket_configs (
  kind, name, rate, capacity, shards, by_operator
) VALUES (
  ?, ?, ?, ?, ?, ?
)
