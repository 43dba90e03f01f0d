-- Consumes the signals of visits that ended, and empties the inboxes of instances that are done.
--
-- Runs after commit.sql in its transaction, for the rows that it returned. A signal with a dedup key stays, emptied
-- and marked: its key protects for the instance's life.
-- Index: the primary key of signals; signals_target. $1 signals  $2 instances that are done
WITH kept AS (
  UPDATE {schema}.signals s SET consumed_at = now(), payload = '{}'
  WHERE s.id = ANY ($1) AND s.dedup_key IS NOT NULL AND s.target_id <> ALL ($2)
), gone AS (
  DELETE FROM {schema}.signals s WHERE s.id = ANY ($1) AND (s.dedup_key IS NULL OR s.target_id = ANY ($2))
)
DELETE FROM {schema}.signals s WHERE s.target_id = ANY ($2) AND s.id <> ALL ($1)
