-- Rows of each table, in the order of `Table::ALL`.
SELECT (SELECT count(*) FROM gen_durable),
  (SELECT count(*) FROM gen_durable WHERE parent_id > id),
  (SELECT count(*) FROM signals),
  (SELECT count(*) FROM gen_durable_history),
  (SELECT count(*) FROM gen_durable_bucket_configs),
  (SELECT count(*) FROM gen_durable_buckets),
  (SELECT count(*) FROM gen_durable_schedules),
  (SELECT count(*) FROM gen_durable_queues)
