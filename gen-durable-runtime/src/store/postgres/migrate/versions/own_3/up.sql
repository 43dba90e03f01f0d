-- Our version 3: deadlines of machines, signals that leave any step, limits that block rows. Columns are nullable or have a
-- constant default, so that nothing is rewritten; a program of version 2 works on: it refuses machines that have any of it.
--
-- deadline_at   when the instance's time is up; taken away when that was noticed, or when it has ended
-- expired_at    since when its time is up
-- expires       the step is left for that
-- exit_signals  names of signals that leave the step, whatever it waits for
-- blocked_by    what a row that is due waits for: `key:` and a concurrency key, `rate:` and a rate limit's key, `limit:` and the
--               name of one that nobody has configured, `code:` and a machine, version and step that no worker knows
-- due_at        when such a row was due: its eligible_at is moved out of the way
ALTER TABLE {schema}.gen_durable
  ADD COLUMN deadline_at  timestamptz,
  ADD COLUMN expired_at   timestamptz,
  ADD COLUMN expires      boolean NOT NULL DEFAULT false,
  ADD COLUMN exit_signals text[],
  -- Compared byte by byte: causes are looked up by their prefix.
  ADD COLUMN blocked_by   text COLLATE "C",
  ADD COLUMN due_at       timestamptz
-- ;;
-- promised_at  until when the tokens of a key are promised to rows that were set aside
-- owed         what comes back before anything may be taken: a limit that was made smaller
ALTER TABLE {schema}.gen_durable_buckets
  ADD COLUMN promised_at timestamptz,
  ADD COLUMN owed        double precision NOT NULL DEFAULT 0
-- ;;
-- by_operator  a boot does not change it
ALTER TABLE {schema}.gen_durable_bucket_configs
  ADD COLUMN by_operator boolean NOT NULL DEFAULT false
-- ;;
-- Only a schema that the Elixir migrator took down under us can have these tables here.
DROP TABLE IF EXISTS {schema}.gen_durable_held, {schema}.gen_durable_queues, {schema}.gen_durable_workers
-- ;;
-- Slots of `held` keys, from the first claim to the end of their instance. Without a foreign key, which would keep the Elixir
-- migrator from going down: what an instance leaves behind is swept.
CREATE TABLE {schema}.gen_durable_held (
  instance_id bigint not null,
  key         text not null,
  shard       smallint not null,
  primary key (instance_id, key)
)
-- ;;
-- How many slots of a key are held.
CREATE INDEX gen_durable_held_key ON {schema}.gen_durable_held (key, shard)
-- ;;
-- Queues that are paused.
CREATE TABLE {schema}.gen_durable_queues (
  queue     text primary key,
  paused_at timestamptz not null default now()
)
-- ;;
-- Live workers: what they serve, and which machines, versions and steps they know.
CREATE TABLE {schema}.gen_durable_workers (
  name       text primary key,
  queues     text[] not null,
  codes      text[] not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
)
-- ;;
UPDATE {schema}.gen_durable_meta SET version = 3
-- ;;
-- Schedules. Only a schema that the Elixir migrator took down under us can have this table here.
DROP TABLE IF EXISTS {schema}.gen_durable_schedules
-- ;;
-- code           it stands in an annotation; else a client made it
-- fsm, fsm_version, step   what it starts; of code also the version whose annotation this row holds
-- every_us, cron, tz       when: one of the first two
-- skip_missed    a missed slot is passed over
-- state, carry, queue, priority, delay_us, slot_field   what a client described; slot_field: where in the state the slot's instant goes
-- next_at        the slot to fire next; NULL: none comes any more
-- revision       grows with each write: who moves the row says which one it read
-- known_at       of code: when a live worker last said that its code has it
-- last_at, fired_at, last_id, last_new   the latest slot that was fired, when, its instance, and whether that was started for it
-- missed_at      the latest slot that got no instance of its own
CREATE TABLE {schema}.gen_durable_schedules (
  name        text primary key,
  code        boolean not null,
  fsm         text not null,
  fsm_version int not null,
  step        text not null,
  every_us    bigint,
  cron        text,
  tz          text,
  skip_missed boolean not null,
  state       jsonb,
  carry       jsonb,
  queue       text,
  priority    smallint,
  delay_us    bigint not null default 0,
  slot_field  text,
  next_at     timestamptz,
  revision    bigint not null default 1,
  paused_at   timestamptz,
  known_at    timestamptz,
  last_at     timestamptz,
  fired_at    timestamptz,
  last_id     bigint,
  last_new    boolean,
  missed_at   timestamptz,
  last_error  text,
  inserted_at timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  CHECK ((every_us IS NULL) <> (cron IS NULL))
)
-- ;;
-- Slots that have come, and the next one, of each machine.
CREATE INDEX gen_durable_schedules_next ON {schema}.gen_durable_schedules (fsm, next_at)
  WHERE paused_at IS NULL AND next_at IS NOT NULL
