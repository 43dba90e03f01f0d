-- Rows of each table, in the order of `Table::ALL`.
SELECT (SELECT count(*) FROM {schema}.gen_durable),
  (SELECT count(*) FROM {schema}.gen_durable WHERE parent_id > id),
  (SELECT count(*) FROM {schema}.signals),
  (SELECT count(*) FROM {schema}.gen_durable_history),
  (SELECT count(*) FROM {schema}.gen_durable_bucket_configs),
  (SELECT count(*) FROM {schema}.gen_durable_buckets),
  (SELECT count(*) FROM {schema}.gen_durable_schedules),
  (SELECT count(*) FROM {schema}.gen_durable_queues)
