-- One transaction over all tables. EXCLUSIVE stops all who write, another copy included, and none who read.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL lock_timeout = '5s';
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL synchronous_commit = on;
LOCK TABLE {schema}.gen_durable, {schema}.signals, {schema}.gen_durable_history, {schema}.gen_durable_bucket_configs,
  {schema}.gen_durable_buckets, {schema}.gen_durable_schedules, {schema}.gen_durable_held, {schema}.gen_durable_queues
  IN EXCLUSIVE MODE
