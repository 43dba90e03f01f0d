-- Asks instances to end. Whatever does not run and is not shielded is due at once; what runs is told by its worker.
--
-- Takes each row's lock, in the order of ids, as a delivery does: a commit under way ends before, or sees it.
-- Index: the primary key, or gen_durable_correlation for a key. $1 ids  $2 business keys  $3 reason
WITH target AS MATERIALIZED (
  SELECT g.id, g.status::text AS status, g.shielded, i.ord
  FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS i(id, key, ord)
  JOIN {schema}.gen_durable g
    ON g.id = coalesce(i.id, (SELECT k.id FROM {schema}.gen_durable k WHERE k.correlation_guard = i.key))
  WHERE g.status::text NOT IN ('done', 'failed') AND i.ord * 0 = 0 -- expects one row: see commit.sql
  ORDER BY g.id
  FOR NO KEY UPDATE OF g
), asked AS (
  UPDATE {schema}.gen_durable g
  SET cancelled_at = coalesce(g.cancelled_at, now()), cancel_reason = coalesce(g.cancel_reason, $3),
      status = CASE WHEN g.status::text LIKE 'awaiting%' AND NOT g.shielded
        THEN 'runnable'::{schema}.durable_status ELSE g.status END,
      eligible_at = CASE WHEN g.status::text <> 'executing' AND NOT g.shielded THEN now() ELSE g.eligible_at END,
      updated_at = now()
  FROM target t
  WHERE g.id = ANY (ARRAY[t.id]) AND t.id * 0 = 0
  RETURNING g.id, g.queue
)
SELECT t.ord, t.id, a.queue, t.status = 'executing' AND NOT t.shielded AS executing FROM target t JOIN asked a ON a.id = t.id
