-- Our version 3: deadlines of machines and signals that leave any step. Columns are nullable or have a constant default, so
-- that nothing is rewritten; a program of version 2 works on: it refuses machines that have such exits.
--
-- deadline_at   when the instance's time is up; taken away when that was noticed, or when it has ended
-- expired_at    since when its time is up
-- expires       the step is left for that
-- exit_signals  names of signals that leave the step, whatever it waits for
ALTER TABLE {schema}.gen_durable
  ADD COLUMN deadline_at  timestamptz,
  ADD COLUMN expired_at   timestamptz,
  ADD COLUMN expires      boolean NOT NULL DEFAULT false,
  ADD COLUMN exit_signals text[]
-- ;;
UPDATE {schema}.gen_durable_meta SET version = 3
