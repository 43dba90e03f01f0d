-- Asks children to end, a piece at a time, and says whether others were held by someone else.
--
-- Index: gen_durable_parent. Lock: SKIP LOCKED. $1 parent  $2 its round, or all  $3 limit  $4 reason
WITH open AS MATERIALIZED (
  SELECT c.id FROM {schema}.gen_durable c
  WHERE c.parent_id = $1 AND ($2::bigint IS NULL OR c.parent_round = $2) AND c.cancelled_at IS NULL
    AND c.status::text NOT IN ('done', 'failed')
), held AS MATERIALIZED (
  SELECT g.id, g.status::text AS status, g.shielded FROM {schema}.gen_durable g
  WHERE g.id = ANY (ARRAY(SELECT open.id FROM open)) AND g.cancelled_at IS NULL
    AND g.status::text NOT IN ('done', 'failed')
  LIMIT $3
  FOR NO KEY UPDATE OF g SKIP LOCKED
), asked AS (
  UPDATE {schema}.gen_durable g
  SET cancelled_at = now(), cancel_reason = $4,
      status = CASE WHEN g.status::text LIKE 'awaiting%' AND NOT g.shielded
        THEN 'runnable'::{schema}.durable_status ELSE g.status END,
      eligible_at = CASE WHEN g.status::text <> 'executing' AND NOT g.shielded THEN now() ELSE g.eligible_at END,
      updated_at = now()
  FROM held h
  WHERE g.id = ANY (ARRAY[h.id]) AND h.id * 0 = 0 -- expects one row: see commit.sql
  RETURNING g.id, g.queue, h.status, h.shielded
)
SELECT a.id, a.queue, a.status = 'executing' AND NOT a.shielded AS executing,
  (SELECT count(*) FROM open) > (SELECT count(*) FROM held) AS missed
FROM (SELECT 1) one LEFT JOIN asked a ON true
