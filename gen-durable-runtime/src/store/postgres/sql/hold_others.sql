-- Locks the parents of a batch that end children, and the targets of its signals, without waiting for any: what is not
-- held is committed later. Answers with what is held, the round of children for which it waits, and with what is not there
-- to be held.
-- Index: the primary key, gen_durable_correlation. Lock: NO KEY UPDATE, SKIP LOCKED. $1 ids  $2 business keys
WITH wanted AS MATERIALIZED (
  SELECT i.id FROM unnest($1::bigint[]) AS i(id)
  UNION
  SELECT k.id FROM {schema}.gen_durable k WHERE k.correlation_guard = ANY ($2)
), held AS MATERIALIZED (
  SELECT g.id, g.correlation_guard AS key, CASE WHEN g.status::text = 'awaiting_children' THEN g.transitions END AS round FROM {schema}.gen_durable g
  WHERE g.id = ANY (ARRAY(SELECT wanted.id FROM wanted))
  FOR NO KEY UPDATE OF g SKIP LOCKED
)
SELECT held.id, held.key, held.round, NULL::text AS absent_key FROM held
UNION ALL
SELECT w.id, NULL, NULL, NULL FROM wanted w WHERE (SELECT true FROM {schema}.gen_durable g WHERE g.id = w.id LIMIT 1) IS NULL
UNION ALL
SELECT NULL, NULL, NULL, k.key FROM unnest($2::text[]) AS k(key)
WHERE (SELECT true FROM {schema}.gen_durable g WHERE g.correlation_guard = k.key LIMIT 1) IS NULL
