-- Forgets lines of history by their age, in the order of their ids, which is about that of their age.
-- Index: the primary key. Lock: SKIP LOCKED. $1 microseconds of age  $2 limit
WITH old AS MATERIALIZED (
  SELECT h.id, h.committed_at FROM {schema}.gen_durable_history h
  ORDER BY h.id LIMIT $2
  FOR UPDATE SKIP LOCKED
)
DELETE FROM {schema}.gen_durable_history h
WHERE h.id = ANY (ARRAY(SELECT old.id FROM old WHERE old.committed_at < now() - $1 * interval '1 microsecond'))
RETURNING h.id
