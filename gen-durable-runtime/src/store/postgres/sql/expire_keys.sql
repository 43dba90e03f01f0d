-- Deletes signals of live instances of these machines that were consumed so long ago: their dedup keys protect no longer.
--
-- Signals are looked at in the order in which they came, up to those that are younger: nobody has consumed these so long ago.
-- Index: the primary keys. Lock: SKIP LOCKED. $1 microseconds of age  $2 after this signal  $3 signals to look at
-- $4 machines  $5 their versions
WITH seen AS MATERIALIZED (
  SELECT s.id, s.target_id, s.consumed_at, s.inserted_at < now() - $1 * interval '1 microsecond' AS is_old
  FROM {schema}.signals s WHERE s.id > $2
  ORDER BY s.id LIMIT $3
), spent AS MATERIALIZED (
  SELECT seen.id FROM seen
  WHERE seen.is_old AND seen.consumed_at < now() - $1 * interval '1 microsecond'
    -- One probe a row, as in purge_look.sql.
    AND (SELECT g.status::text NOT IN ('done', 'failed')
           AND (g.fsm, g.fsm_version) IN (SELECT m.fsm, m.version FROM unnest($4::text[], $5::int[]) AS m(fsm, version))
         FROM {schema}.gen_durable g WHERE g.id = seen.target_id)
), gone AS (
  DELETE FROM {schema}.signals s
  WHERE s.id = ANY (ARRAY(
    SELECT d.id FROM {schema}.signals d WHERE d.id = ANY (ARRAY(SELECT spent.id FROM spent)) FOR UPDATE SKIP LOCKED))
  RETURNING s.id
)
SELECT (SELECT count(*) FROM gone) AS gone, (SELECT count(*) FROM seen WHERE seen.is_old) AS seen,
  (SELECT max(seen.id) FROM seen WHERE seen.is_old) AS last
