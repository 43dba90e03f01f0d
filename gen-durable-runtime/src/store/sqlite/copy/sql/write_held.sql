-- One row of gen_durable_held; its parameters are its columns.
INSERT INTO gen_durable_held (
  instance_id, key, shard
) VALUES (
  ?, ?, ?
)
