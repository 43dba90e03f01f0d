-- gen_durable_queues, as binary.rs writes it.
COPY {schema}.gen_durable_queues (
  queue, paused_at
) FROM STDIN (FORMAT binary)
