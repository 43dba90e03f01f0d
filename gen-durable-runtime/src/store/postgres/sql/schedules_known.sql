-- Says that the code of a live worker has these schedules. Index: the primary key.
-- Lock: SKIP LOCKED, whoever has a row is such a worker, or the next look comes in time. $1 names
UPDATE {schema}.gen_durable_schedules s SET known_at = now()
WHERE s.name IN (
  SELECT k.name FROM {schema}.gen_durable_schedules k WHERE k.name = ANY ($1) FOR NO KEY UPDATE OF k SKIP LOCKED)
