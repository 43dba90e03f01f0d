-- One row of gen_durable_queues; its parameters are its columns.
INSERT INTO gen_durable_queues (
  queue, paused_at
) VALUES (
  ?, ?
)
