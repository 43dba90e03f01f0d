-- Deletes the history of instances that go, a piece at a time. Index: gen_durable_history_instance. ?1 ids that go  ?2 limit
DELETE FROM gen_durable_history
WHERE id IN (
  SELECT l.id FROM gen_durable_history l WHERE l.instance_id IN (SELECT value FROM json_each(?1)) LIMIT ?2)
RETURNING id
