-- Version 1 as the Elixir migrator makes it.
CREATE TYPE {schema}.durable_status AS ENUM
  ('runnable', 'executing', 'awaiting_signal', 'awaiting_children', 'done', 'failed');
CREATE TABLE {schema}.gen_durable (
  id            bigint generated always as identity primary key,
  fsm           text not null,
  fsm_version   int  not null default 1,
  step          text not null,
  status        {schema}.durable_status not null default 'runnable',
  state         jsonb not null default '{}',
  result        jsonb,
  awaits        text[],
  queue         text     not null default 'default',
  priority      smallint not null default 0,
  concurrency_key   text,
  concurrency_shard smallint,
  eligible_at   timestamptz not null default now(),
  attempt       int  not null default 0,
  last_error    text,
  await_deadline timestamptz,
  rate_limit    text,
  weight        double precision not null default 1,
  locked_by        text,
  lease_expires_at timestamptz,
  parent_id        bigint references {schema}.gen_durable(id) on delete set null,
  children_pending int not null default 0,
  correlation_key   text,
  correlation_scope {schema}.durable_status[] not null default '{}',
  correlation_guard text generated always as (
    case when correlation_key is not null and status = any(correlation_scope)
         then correlation_key end
  ) stored,
  inserted_at   timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);
CREATE INDEX gen_durable_pick ON {schema}.gen_durable (queue, priority, eligible_at)
  WHERE status = 'runnable';
CREATE INDEX gen_durable_lease ON {schema}.gen_durable (lease_expires_at)
  WHERE status = 'executing';
CREATE INDEX gen_durable_await_deadline ON {schema}.gen_durable (await_deadline)
  WHERE status = 'awaiting_signal' AND await_deadline IS NOT NULL;
CREATE UNIQUE INDEX gen_durable_concurrency_active ON {schema}.gen_durable (concurrency_key)
  WHERE status = 'executing' AND concurrency_key IS NOT NULL
    AND concurrency_shard IS NULL;
CREATE UNIQUE INDEX gen_durable_correlation ON {schema}.gen_durable (correlation_guard)
  WHERE correlation_guard IS NOT NULL;
CREATE INDEX gen_durable_parent ON {schema}.gen_durable (parent_id)
  WHERE parent_id IS NOT NULL;
CREATE INDEX gen_durable_gc ON {schema}.gen_durable (updated_at)
  WHERE status IN ('done', 'failed');
CREATE TABLE {schema}.signals (
  id          bigint generated always as identity primary key,
  target_id   bigint not null references {schema}.gen_durable(id) on delete cascade,
  name        text   not null,
  payload     jsonb  not null default '{}',
  dedup_key   text,
  inserted_at timestamptz not null default now(),
  unique (target_id, dedup_key)
);
CREATE INDEX signals_target ON {schema}.signals (target_id, name);
CREATE TABLE {schema}.gen_durable_rate_configs (
  name  text primary key,
  rate  double precision not null,   -- tokens per second (allowed / period)
  burst double precision not null    -- bucket capacity
);
CREATE TABLE {schema}.gen_durable_rate_buckets (
  key         text primary key,
  tokens      double precision not null,
  last_refill timestamptz not null default clock_timestamp()
);
CREATE TABLE {schema}.gen_durable_concurrency_configs (
  name   text primary key,
  cap    int not null,
  shards int not null
);
CREATE TABLE {schema}.gen_durable_concurrency_buckets (
  key       text not null,
  shard     smallint not null,
  cap       int not null,
  available int not null,
  PRIMARY KEY (key, shard),
  CHECK (available >= 0 AND available <= cap)
);
COMMENT ON TABLE {schema}.gen_durable IS '1'
