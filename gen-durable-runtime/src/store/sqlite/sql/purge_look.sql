-- Looks at instances that have ended, in the order in which they did, and says which may go: of these machines and endings,
-- and no child of a parent that may still read it. One that is not done may: it runs, or can be retried. Who is done stays so.
--
-- Index: gen_durable_gc, in order, so that it stops after the look; the primary key for parents.
-- ?1 ended before this moment  ?2 and from this one on  ?3 rows to look at
-- ?4 machines, versions and endings: [[machine, version, status], ..]  ?5 limit
WITH seen AS MATERIALIZED (
  SELECT g.id, g.fsm, g.fsm_version, g.status, g.parent_id, g.updated_at
  FROM gen_durable AS g INDEXED BY gen_durable_gc
  WHERE g.status IN ('done', 'failed') AND g.updated_at < ?1 AND g.updated_at >= ?2
  ORDER BY g.updated_at LIMIT ?3
)
SELECT (SELECT count(*) FROM seen) AS seen, (SELECT max(seen.updated_at) FROM seen) AS last_us,
  (SELECT json_group_array(d.id) FROM (
    SELECT seen.id FROM seen
    WHERE (seen.fsm, seen.fsm_version, seen.status)
        IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?4))
      AND coalesce((SELECT p.status FROM gen_durable AS p NOT INDEXED WHERE p.id = seen.parent_id), 'done') = 'done'
    ORDER BY seen.updated_at LIMIT ?5) AS d) AS due
