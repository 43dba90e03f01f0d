-- Our version 2: children, waits for several signals, history. Columns are nullable or have a constant default, so
-- that nothing is rewritten.
--
-- await_mode       NULL: any  1: any, the first of the list  2: one of each group  3: so many
-- await_need       how many groups, or how many signals
-- await_groups     for each of `awaits` the group it stands for
-- parent_round     of a child: its parent's transitions while that waits; a child of one round never counts for another
-- child_index      of a child: its place in the fan-out, from 0
-- counted          of a child: its end was counted by its parent, which happens once ever
-- children_done    of a parent: how many of the round ended with a result
-- children_quorum  of a parent: how many must
-- shielded         the step is not interrupted by a cancel
-- cancelled_at, cancel_reason   since when it is asked to end, and why; stays when it has ended
ALTER TABLE {schema}.gen_durable
  ADD COLUMN await_mode      smallint,
  ADD COLUMN await_need      int,
  ADD COLUMN await_groups    bigint[],
  ADD COLUMN parent_round    bigint,
  ADD COLUMN child_index     int,
  ADD COLUMN counted         boolean,
  ADD COLUMN children_done   int NOT NULL DEFAULT 0,
  ADD COLUMN children_quorum int,
  ADD COLUMN shielded        boolean NOT NULL DEFAULT false,
  ADD COLUMN cancelled_at    timestamptz,
  ADD COLUMN cancel_reason   text
-- ;;
-- Only a schema that the Elixir migrator took down under us can have this table here.
DROP TABLE IF EXISTS {schema}.gen_durable_history
-- ;;
-- What became of each run. Without a foreign key, whose check would cost more than the row: lines go by their age.
CREATE TABLE {schema}.gen_durable_history (
  id           bigint generated always as identity primary key,
  instance_id  bigint not null,
  visit        bigint not null,
  from_step    text not null,
  to_step      text,
  outcome      text not null,
  attempt      int not null,
  worker       text,
  started_at   timestamptz not null,
  committed_at timestamptz not null default now(),
  error        text
)
-- ;;
-- The history of one instance.
CREATE INDEX gen_durable_history_instance ON {schema}.gen_durable_history (instance_id, id)
-- ;;
-- A program of version 1 would end a child without telling its parent.
UPDATE {schema}.gen_durable_meta SET version = 2, oldest_code = 2
