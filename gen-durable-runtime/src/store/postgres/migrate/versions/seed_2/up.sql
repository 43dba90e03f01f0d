-- Version 2 of the seed: four limiter tables become two. What they held is made anew: configurations by the
-- next boot, buckets by the next claim. Instances and signals are not touched.
DROP TABLE {schema}.gen_durable_concurrency_buckets
-- ;;
DROP TABLE {schema}.gen_durable_concurrency_configs
-- ;;
DROP TABLE {schema}.gen_durable_rate_buckets
-- ;;
DROP TABLE {schema}.gen_durable_rate_configs
-- ;;
-- `kind` is part of the key, so that a rate limit and a gate may have one name. `rate` is in tokens a second,
-- NULL for a gate; `capacity` is the burst of a limit, the slots of a gate.
CREATE TABLE {schema}.gen_durable_bucket_configs (
  kind     text not null,
  name     text not null,
  rate     double precision,
  capacity double precision not null,
  shards   smallint not null,
  primary key (kind, name),
  check (kind IN ('rate', 'conc'))
)
-- ;;
-- The CHECK is the hard cap: an over-admission or a double credit cannot be committed. The primary key is the
-- arbiter of two claims that mint one cold bucket.
CREATE TABLE {schema}.gen_durable_buckets (
  kind        text not null,
  key         text not null,
  shard       smallint not null,
  capacity    double precision not null,
  available   double precision not null,
  last_refill timestamptz,
  primary key (kind, key, shard),
  check (available >= 0 AND available <= capacity)
)
-- ;;
COMMENT ON TABLE {schema}.gen_durable IS '2'
