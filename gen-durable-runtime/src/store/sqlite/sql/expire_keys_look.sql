-- Looks at signals in the order in which they came, and says which were consumed so long ago by live instances of these
-- machines: their dedup keys protect no longer. Those that are younger nobody has consumed so long ago.
-- Index: the primary keys. ?1 consumed before this moment  ?2 after this signal  ?3 signals to look at
-- ?4 machines and versions: [[machine, version], ..]
WITH seen AS MATERIALIZED (
  SELECT s.id, s.target_id, s.consumed_at, s.inserted_at < ?1 AS is_old
  FROM signals AS s NOT INDEXED WHERE s.id > ?2
  ORDER BY s.id LIMIT ?3
)
SELECT (SELECT count(*) FROM seen WHERE seen.is_old) AS seen, (SELECT max(seen.id) FROM seen WHERE seen.is_old) AS last,
  (SELECT json_group_array(seen.id) FROM seen
    WHERE seen.is_old AND seen.consumed_at < ?1
      AND (SELECT g.status NOT IN ('done', 'failed')
             AND (g.fsm, g.fsm_version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?4))
           FROM gen_durable AS g NOT INDEXED WHERE g.id = seen.target_id)) AS spent
