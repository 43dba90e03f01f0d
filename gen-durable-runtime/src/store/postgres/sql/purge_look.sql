-- Looks at instances that have ended, in the order in which they did, and says which may go: of these machines and endings,
-- and no child of a parent that may still read it. One that is not done may: it runs, or can be retried. Who is done stays so.
--
-- Index: gen_durable_gc, in order, so that it stops after the look; the primary key for parents. Lock: none; purge_hold.sql
-- takes it. $1 microseconds of age  $2 from this moment, microseconds of the epoch, or NULL  $3 rows to look at
-- $4 machines  $5 their versions  $6 endings  $7 limit
WITH seen AS MATERIALIZED (
  SELECT g.id, g.fsm, g.fsm_version, g.status::text AS status, g.parent_id, g.updated_at
  FROM {schema}.gen_durable g
  WHERE g.status IN ('done', 'failed') AND g.updated_at < now() - $1 * interval '1 microsecond'
    AND g.updated_at >= coalesce(to_timestamp($2 / 1000000.0), '-infinity')
  ORDER BY g.updated_at LIMIT $3
), due AS MATERIALIZED (
  SELECT s.id FROM seen s
  WHERE (s.fsm, s.fsm_version, s.status)
      IN (SELECT r.fsm, r.version, r.status FROM unnest($4::text[], $5::int[], $6::text[]) AS r(fsm, version, status))
    -- One probe a row: a join would be planned by what a look of unknown length may have.
    AND coalesce((SELECT p.status::text FROM {schema}.gen_durable p WHERE p.id = s.parent_id), 'done') = 'done'
  ORDER BY s.updated_at LIMIT $7
)
SELECT (SELECT count(*) FROM seen) AS seen, ARRAY(SELECT due.id FROM due) AS due,
  (SELECT (extract(epoch FROM greatest(max(seen.updated_at), 'epoch')) * 1000000)::bigint FROM seen HAVING count(*) > 0) AS last_us
