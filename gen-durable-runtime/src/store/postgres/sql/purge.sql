-- Deletes instances that go, with their inboxes; those stay of which a line of history or a child is left.
--
-- Runs after the others of its name in their transaction. A child that goes too, or that goes with the next piece, is none: the
-- foreign key finds nothing to do, or what this transaction has locked.
-- Index: the primary key; gen_durable_history_instance, gen_durable_parent, and signals_target by the foreign key.
-- Lock: those of purge_hold.sql. $1 ids
DELETE FROM {schema}.gen_durable g
WHERE g.id = ANY ($1)
  AND NOT EXISTS (SELECT FROM {schema}.gen_durable_history h WHERE h.instance_id = g.id)
  AND NOT EXISTS (SELECT FROM {schema}.gen_durable c WHERE c.parent_id = g.id
    AND c.id NOT IN (SELECT i.id FROM unnest($1::bigint[]) AS i(id)))
RETURNING g.id
