-- Back to the four limiter tables of version 1, empty as after its own `up`.
DROP TABLE {schema}.gen_durable_buckets
-- ;;
DROP TABLE {schema}.gen_durable_bucket_configs
-- ;;
CREATE TABLE {schema}.gen_durable_rate_configs (
  name  text primary key,
  rate  double precision not null,
  burst double precision not null
)
-- ;;
CREATE TABLE {schema}.gen_durable_rate_buckets (
  key         text primary key,
  tokens      double precision not null,
  last_refill timestamptz not null default clock_timestamp()
)
-- ;;
CREATE TABLE {schema}.gen_durable_concurrency_configs (
  name   text primary key,
  cap    int not null,
  shards int not null
)
-- ;;
CREATE TABLE {schema}.gen_durable_concurrency_buckets (
  key       text not null,
  shard     smallint not null,
  cap       int not null,
  available int not null,
  primary key (key, shard),
  check (available >= 0 AND available <= cap)
)
-- ;;
COMMENT ON TABLE {schema}.gen_durable IS '1'
