-- Deletes instances that go, with their inboxes; those stay of which a line of history or a child is left. A child that goes
-- too is none.
-- Index: the primary key; gen_durable_history_instance, gen_durable_parent, and signals_target by the foreign key. ?1 ids
DELETE FROM gen_durable
WHERE id IN (SELECT value FROM json_each(?1))
  AND NOT EXISTS (SELECT 1 FROM gen_durable_history h WHERE h.instance_id = gen_durable.id)
  AND NOT EXISTS (SELECT 1 FROM gen_durable c WHERE c.parent_id = gen_durable.id
    AND c.id NOT IN (SELECT value FROM json_each(?1)))
RETURNING id
