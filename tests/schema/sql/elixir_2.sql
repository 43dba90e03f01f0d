-- Version 2 as the Elixir migrator makes it, on version 1.
DROP TABLE IF EXISTS {schema}.gen_durable_concurrency_buckets;
DROP TABLE IF EXISTS {schema}.gen_durable_concurrency_configs;
DROP TABLE IF EXISTS {schema}.gen_durable_rate_buckets;
DROP TABLE IF EXISTS {schema}.gen_durable_rate_configs;
CREATE TABLE {schema}.gen_durable_bucket_configs (
  kind     text not null,
  name     text not null,
  rate     double precision,           -- tokens/sec; NULL for concurrency
  capacity double precision not null,   -- burst (rate) or cap (concurrency)
  shards   smallint not null,
  PRIMARY KEY (kind, name),
  CHECK (kind IN ('rate', 'conc'))
);
CREATE TABLE {schema}.gen_durable_buckets (
  kind        text not null,
  key         text not null,
  shard       smallint not null,
  capacity    double precision not null,
  available   double precision not null,
  last_refill timestamptz,
  PRIMARY KEY (kind, key, shard),
  CHECK (available >= 0 AND available <= capacity)
);
COMMENT ON TABLE {schema}.gen_durable IS '2'
