-- One snapshot of everything. SHARE stops all who write and none who read; only LOCK TABLE may come before the
-- snapshot, so that it holds whatever was committed before the locks. The wait is short: others queue behind it.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL lock_timeout = '5s';
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
LOCK TABLE {schema}.gen_durable, {schema}.signals, {schema}.gen_durable_history, {schema}.gen_durable_bucket_configs,
  {schema}.gen_durable_buckets, {schema}.gen_durable_schedules, {schema}.gen_durable_held, {schema}.gen_durable_queues
  IN SHARE MODE
