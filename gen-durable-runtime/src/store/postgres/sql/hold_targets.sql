-- Locks the targets of a delivery, and waits for whoever holds one: of one that met such a target, which is then made again in the
-- same transaction, and of several in a caller's own.
-- Index: the primary key, gen_durable_correlation. Lock: NO KEY UPDATE in the order of ids, so that two deliveries of the same
-- targets cannot deadlock.
-- $1 ids  $2 business keys
SELECT g.id FROM {schema}.gen_durable g
WHERE g.status::text NOT IN ('done', 'failed') AND g.id = ANY (ARRAY(
  SELECT i.id FROM unnest($1::bigint[]) AS i(id)
  UNION
  SELECT k.id FROM {schema}.gen_durable k WHERE k.correlation_guard = ANY ($2::text[])))
ORDER BY g.id
FOR NO KEY UPDATE OF g
