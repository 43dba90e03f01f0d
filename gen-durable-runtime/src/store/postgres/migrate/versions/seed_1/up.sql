-- Version 1 of the seed: the tables of the Elixir engine as its own migrator makes them.
-- Everything is new here, so nothing waits for a lock.
CREATE TYPE {schema}.durable_status AS ENUM
  ('runnable', 'executing', 'awaiting_signal', 'awaiting_children', 'done', 'failed')
-- ;;
-- `correlation_scope` is an array of the enum, not of text: the cast from enum to text is only STABLE, and the
-- expression of a generated column has to be IMMUTABLE.
CREATE TABLE {schema}.gen_durable (
  id                bigint generated always as identity primary key,
  fsm               text not null,
  fsm_version       int  not null default 1,
  step              text not null,
  status            {schema}.durable_status not null default 'runnable',
  state             jsonb not null default '{}',
  result            jsonb,
  awaits            text[],

  queue             text     not null default 'default',
  priority          smallint not null default 0,

  -- Without a shard a claimed key is fenced by the unique index below (K = 1); with one by its bucket's CHECK.
  concurrency_key   text,
  concurrency_shard smallint,

  eligible_at       timestamptz not null default now(),
  attempt           int  not null default 0,
  last_error        text,
  await_deadline    timestamptz,

  rate_limit        text,
  weight            double precision not null default 1,

  locked_by         text,
  lease_expires_at  timestamptz,

  parent_id         bigint references {schema}.gen_durable (id) on delete set null,
  children_pending  int not null default 0,

  -- The guard is the key while the status is one in which the key counts as occupied, else NULL.
  correlation_key   text,
  correlation_scope {schema}.durable_status[] not null default '{}',
  correlation_guard text generated always as (
    case when correlation_key is not null and status = any (correlation_scope) then correlation_key end
  ) stored,

  inserted_at       timestamptz not null default now(),
  updated_at        timestamptz not null default now()
)
-- ;;
-- The claim.
CREATE INDEX gen_durable_pick ON {schema}.gen_durable (queue, priority, eligible_at) WHERE status = 'runnable'
-- ;;
-- Expired claims.
CREATE INDEX gen_durable_lease ON {schema}.gen_durable (lease_expires_at) WHERE status = 'executing'
-- ;;
-- Waits whose time is up.
CREATE INDEX gen_durable_await_deadline ON {schema}.gen_durable (await_deadline)
  WHERE status = 'awaiting_signal' AND await_deadline IS NOT NULL
-- ;;
-- The K = 1 arbiter: at most one executing row per unconfigured key can ever be committed.
CREATE UNIQUE INDEX gen_durable_concurrency_active ON {schema}.gen_durable (concurrency_key)
  WHERE status = 'executing' AND concurrency_key IS NOT NULL AND concurrency_shard IS NULL
-- ;;
-- One occupant per business key, and the address of its signals.
CREATE UNIQUE INDEX gen_durable_correlation ON {schema}.gen_durable (correlation_guard)
  WHERE correlation_guard IS NOT NULL
-- ;;
-- Joins.
CREATE INDEX gen_durable_parent ON {schema}.gen_durable (parent_id) WHERE parent_id IS NOT NULL
-- ;;
-- Retention.
CREATE INDEX gen_durable_gc ON {schema}.gen_durable (updated_at) WHERE status IN ('done', 'failed')
-- ;;
CREATE TABLE {schema}.signals (
  id          bigint generated always as identity primary key,
  target_id   bigint not null references {schema}.gen_durable (id) on delete cascade,
  name        text   not null,
  payload     jsonb  not null default '{}',
  dedup_key   text,
  inserted_at timestamptz not null default now(),
  unique (target_id, dedup_key)
)
-- ;;
-- The inbox.
CREATE INDEX signals_target ON {schema}.signals (target_id, name)
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
