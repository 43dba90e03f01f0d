-- Deletes the history of instances that go, a piece at a time.
-- Index: gen_durable_history_instance. Lock: SKIP LOCKED. $1 ids that go  $2 limit
DELETE FROM {schema}.gen_durable_history h
WHERE h.id = ANY (ARRAY(
  SELECT l.id FROM {schema}.gen_durable_history l WHERE l.instance_id = ANY ($1) LIMIT $2 FOR UPDATE SKIP LOCKED))
RETURNING h.id
