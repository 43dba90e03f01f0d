-- Every paused queue. Index: the primary key.
SELECT
  queue, paused_at
FROM gen_durable_queues
ORDER BY queue
