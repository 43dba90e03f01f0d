-- Locks the targets of a delivery that met one whom someone else holds, and waits for it: the delivery is then made again,
-- in the same transaction.
-- Index: the primary key, gen_durable_correlation. Lock: NO KEY UPDATE in the order of ids, so that two deliveries of the same
-- targets cannot deadlock; whoever ended meanwhile is locked as well, and told apart by the delivery.
-- $1 ids  $2 business keys
SELECT g.id FROM {schema}.gen_durable g
WHERE g.id = ANY (ARRAY(
  SELECT i.id FROM unnest($1::bigint[]) AS i(id)
  UNION
  SELECT k.id FROM {schema}.gen_durable k WHERE k.correlation_guard = ANY ($2::text[])))
ORDER BY g.id
FOR NO KEY UPDATE OF g
