-- Of the first rows that are due in a queue, those whose machine, version and step no live worker knows.
-- Index: gen_durable_pick, a descent for each priority.
-- $1 queue  $2 how many rows are looked at  $3 known machines  $4 their versions  $5 their steps
-- $6 how long a worker counts that is not seen, in microseconds
WITH RECURSIVE levels AS (
  (SELECT g.priority FROM {schema}.gen_durable g
   WHERE g.queue = $1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM {schema}.gen_durable g
          WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL
), head AS MATERIALIZED (
  SELECT d.* FROM levels CROSS JOIN LATERAL (
    SELECT g.id, g.fsm, g.fsm_version, g.step FROM {schema}.gen_durable g
    WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at <= now()
    ORDER BY g.eligible_at LIMIT $2) d
  LIMIT $2
), foreigners AS MATERIALIZED (
  SELECT head.id, head.fsm || ':' || head.fsm_version || ':' || head.step AS code FROM head
  WHERE ((head.fsm, head.fsm_version, head.step) IN (SELECT * FROM unnest($3::text[], $4::int[], $5::text[]))) IS NOT TRUE
), live AS MATERIALIZED (
  SELECT DISTINCT unnest(w.codes) AS code FROM {schema}.gen_durable_workers w
  WHERE w.seen_at > now() - $6 * interval '1 microsecond' AND EXISTS (SELECT FROM foreigners)
)
SELECT f.id, f.code FROM foreigners f WHERE f.code NOT IN (SELECT live.code FROM live)
