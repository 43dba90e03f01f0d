-- Due rows of one queue, most urgent first, with what limits them: what a claim under limits decides on.
--
-- Index: gen_durable_pick, a descent for each priority, so that neither a backlog that is due later nor rows that were set aside
-- are walked; gen_durable_concurrency_active for busy keys; the primary key of gen_durable_held.
-- Lock: NO KEY UPDATE, SKIP LOCKED, as they are reached.
-- $1 queue  $2 limit  $3 known machines  $4 their versions  $5 their steps  $6 a row that crashed twice before is welcome
-- $7 names of keys that are held to the end
WITH RECURSIVE levels AS (
  (SELECT g.priority FROM {schema}.gen_durable g
   WHERE g.queue = $1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM {schema}.gen_durable g
          WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL
), due AS MATERIALIZED (
  SELECT d.* FROM levels CROSS JOIN LATERAL (
    SELECT g.id, g.priority, g.eligible_at, g.concurrency_key, g.concurrency_name, g.rate_limit, g.weight, g.crashes, g.blocked_by, g.due_at
    FROM {schema}.gen_durable g
    WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at <= now()
      AND ((g.fsm, g.fsm_version, g.step) IN (SELECT * FROM unnest($3::text[], $4::int[], $5::text[]))) IS TRUE
      AND (g.crashes <= 1 OR $6)
    ORDER BY g.eligible_at
    LIMIT $2
    FOR NO KEY UPDATE OF g SKIP LOCKED) d
  LIMIT $2
)
SELECT d.id, d.concurrency_key, d.rate_limit, d.weight, d.crashes, d.blocked_by IS NOT NULL AS was_blocked,
  CASE WHEN d.concurrency_name = ANY ($7) THEN (
    SELECT h.shard FROM {schema}.gen_durable_held h
    WHERE h.instance_id = d.id AND h.key = d.concurrency_key) END AS holds,
  d.concurrency_key IS NOT NULL AND (
    SELECT true FROM {schema}.gen_durable b
    WHERE b.concurrency_key = d.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL
    LIMIT 1) IS TRUE AS busy
FROM due d
ORDER BY d.priority, coalesce(d.due_at, d.eligible_at), d.id
